import { Worker } from 'node:worker_threads';
import { type ServerRequest, type ServerState, serverStates } from '@longshore/jobs';
import type { DatabaseOptions } from '../connection/database.js';

/** What the thread is started with. */
export interface HeartbeatData {
  readonly database: DatabaseOptions;
  readonly serverId: string;
  readonly intervalMs: number;
  /** Two 32-bit integers: how many jobs the server runs, and the number of its state in `states`. */
  readonly reported: SharedArrayBuffer;
  readonly states: readonly ServerState[];
}

/** What the thread tells: its server has been declared dead, or an operator asks something of it. */
export type HeartbeatMessage = 'lost' | ServerRequest;

/** The built file, also when this one runs from its source: loaders of TypeScript do not reach into threads. */
const threadFile = new URL('../../dist/control/heartbeat-thread.js', import.meta.url);

/** How long the thread may take to close its connection. */
const stopMs = 1_000;

/** A server's heartbeat, sent from a thread of its own so that a handler that blocks the event loop does not stop it. */
export class Heartbeat {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #reported = new Int32Array(new SharedArrayBuffer(8));
  readonly #lost = new AbortController();

  constructor(
    database: DatabaseOptions,
    serverId: string,
    timeoutMs: number,
    onRequest: (request: ServerRequest) => void,
  ) {
    const data: HeartbeatData = {
      database,
      serverId,
      intervalMs: timeoutMs / 3,
      reported: this.#reported.buffer,
      states: serverStates,
    };
    this.#worker = new Worker(threadFile, { name: 'longshore-heartbeat', workerData: data, execArgv: [] });
    this.#exited = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.on('message', (message: HeartbeatMessage) => {
      if (message === 'lost') this.#lost.abort(new Error('The server was silent for too long'));
      else onRequest(message);
    });
    // A thread that cannot go on leaves a server that will be declared dead: the same as being so.
    this.#worker.on('error', (error) => this.#lost.abort(error));
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  set processing(jobs: number) {
    Atomics.store(this.#reported, 0, jobs);
  }

  set state(state: ServerState) {
    Atomics.store(this.#reported, 1, serverStates.indexOf(state));
  }

  async stop(): Promise<void> {
    const timer = setTimeout(() => void this.#worker.terminate(), stopMs);
    this.#worker.postMessage('stop');
    await this.#exited;
    clearTimeout(timer);
  }
}
