import { Worker } from 'node:worker_threads';
import type { DatabaseOptions } from './database.js';

/** What the thread is started with. */
export interface HeartbeatData {
  readonly database: DatabaseOptions;
  readonly serverId: string;
  readonly intervalMs: number;
  /** One 32-bit integer: how many jobs the server runs. */
  readonly processing: SharedArrayBuffer;
}

/** The thread's only message: its server has been declared dead. */
export const lostMessage = 'lost';

/** The built file, also when this one runs from its source: loaders of TypeScript do not reach into threads. */
const threadFile = new URL('../dist/heartbeat-thread.js', import.meta.url);

/** How long the thread may take to close its connection. */
const stopMs = 1_000;

/** A server's heartbeat, sent from a thread of its own so that a handler that blocks the event loop does not stop it. */
export class Heartbeat {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #processing = new Int32Array(new SharedArrayBuffer(4));
  readonly #lost = new AbortController();

  constructor(database: DatabaseOptions, serverId: string, timeoutMs: number) {
    const data: HeartbeatData = {
      database,
      serverId,
      intervalMs: timeoutMs / 3,
      processing: this.#processing.buffer,
    };
    this.#worker = new Worker(threadFile, { name: 'longshore-heartbeat', workerData: data, execArgv: [] });
    this.#exited = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.on('message', () => this.#lost.abort(new Error('The server was silent for too long')));
    // A thread that cannot go on leaves a server that will be declared dead: the same as being so.
    this.#worker.on('error', (error) => this.#lost.abort(error));
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  set processing(jobs: number) {
    Atomics.store(this.#processing, 0, jobs);
  }

  async stop(): Promise<void> {
    const timer = setTimeout(() => void this.#worker.terminate(), stopMs);
    this.#worker.postMessage('stop');
    await this.#exited;
    clearTimeout(timer);
  }
}
