import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type ServerRequest, type ServerState, serverStates } from '@longshore/jobs/storage';
import type { DatabaseOptions } from '../connection/database.js';
import { packageFile } from '../connection/package-file.js';
import { type HeartbeatData, type HeartbeatMessage, runHeartbeat } from './heartbeat-loop.js';

/** The compiled file, even when this module runs from source: TypeScript loaders do not apply to threads. */
const threadFile = packageFile('dist/control/heartbeat-thread.js');

/** How long the thread may take to close its connection before it is terminated, in milliseconds. */
const stopMs = 1_000;

/**
 * Sends a server's heartbeat from a separate thread, so that the heartbeat continues while a handler blocks the event loop.
 * In a bundle, which has no file for the thread, the main thread sends it.
 */
export class Heartbeat {
  readonly #sender: Worker | MessagePort;
  readonly #ended: Promise<void>;
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
    this.#sender = threadFile === null ? startHere(data) : startThread(threadFile, data);
    const end = this.#sender instanceof Worker ? 'exit' : 'close';
    this.#ended = new Promise((resolve) => this.#sender.once(end, () => resolve()));
    this.#sender.on('message', (message: HeartbeatMessage) => {
      if (message === 'lost') this.#lost.abort(new Error('The server was silent for too long'));
      else onRequest(message);
    });
    // If the thread fails, the server will be declared dead, so it counts as lost now.
    this.#sender.on('error', (error: Error) => this.#lost.abort(error));
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
    const timer = setTimeout(() => {
      if (this.#sender instanceof Worker) void this.#sender.terminate();
      else this.#sender.close();
    }, stopMs);
    this.#sender.postMessage('stop');
    await this.#ended;
    clearTimeout(timer);
  }
}

function startThread(file: URL, data: HeartbeatData): Worker {
  return new Worker(file, { name: 'longshore-heartbeat', workerData: data, execArgv: [] });
}

function startHere(data: HeartbeatData): MessagePort {
  const { port1, port2 } = new MessageChannel();
  runHeartbeat(data, port2);
  return port1;
}
