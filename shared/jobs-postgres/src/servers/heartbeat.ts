import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type ServerRequest, type ServerState, serverStates } from '@longshore/jobs/storage';
import type { DatabaseOptions } from '../connection/database-options.js';
import { packageFile } from '../connection/package-file.js';
import { type HeartbeatCommand, type HeartbeatMessage, sendHeartbeats } from './heartbeat-sender.js';

/**
 * The module that the thread runs; `null` if it does not exist, as in a bundle. This is the compiled file, because
 * TypeScript loaders do not apply to threads.
 */
const threadFile = packageFile('dist/servers/heartbeat-thread.js');

/** How long the thread has to close its connection before it is terminated, in milliseconds. */
const closeMs = 1_000;

/** The main thread's side of one server's heartbeat. */
export class Heartbeat {
  readonly #reported = new Int32Array(new SharedArrayBuffer(8));
  readonly #lost = new AbortController();
  readonly onRequest: (request: ServerRequest) => void;

  constructor(onRequest: (request: ServerRequest) => void) {
    this.onRequest = onRequest;
  }

  /**
   * The number of running jobs and the server's state (its index in `serverStates`). The thread that sends heartbeats
   * shares this memory.
   */
  get reported(): SharedArrayBuffer {
    return this.#reported.buffer;
  }

  /** Aborted when the server has been declared dead or the thread that sends its heartbeats has failed. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  set processing(jobs: number) {
    Atomics.store(this.#reported, 0, jobs);
  }

  set state(state: ServerState) {
    Atomics.store(this.#reported, 1, serverStates.indexOf(state));
  }

  lose(reason: Error): void {
    this.#lost.abort(reason);
  }
}

/**
 * Sends the heartbeats of a store's servers from a separate thread, so that heartbeats continue while a handler blocks
 * the event loop. The thread starts with the first server and runs until {@link close} is called.
 *
 * The main thread sends the heartbeats if the code is bundled, because a bundle has no file for the thread. The main
 * thread also sends them if the connection options contain a function, because functions cannot be passed to a thread.
 */
export class Heartbeats {
  readonly #database: DatabaseOptions;
  readonly #program: URL | null;
  readonly #heartbeats = new Map<string, Heartbeat>();
  #sender: Worker | MessagePort | undefined;

  constructor(database: DatabaseOptions, program = threadFile) {
    this.#database = database;
    this.#program = program;
  }

  start(serverId: string, timeoutMs: number, onRequest: (request: ServerRequest) => void): Heartbeat {
    const heartbeat = new Heartbeat(onRequest);
    this.#heartbeats.set(serverId, heartbeat);
    this.#sender ??= this.#startSender();
    this.#sender.ref();
    const { reported } = heartbeat;
    this.#send({ start: { id: serverId, intervalMs: timeoutMs / 3, reported, states: serverStates } });
    return heartbeat;
  }

  stop(serverId: string): void {
    this.#heartbeats.delete(serverId);
    this.#send({ stop: serverId });
    if (this.#heartbeats.size === 0) this.#sender?.unref(); // lets the process end
  }

  /** Stops all heartbeats and closes the connection. Terminates the thread if this takes longer than a second. */
  async close(): Promise<void> {
    this.#heartbeats.clear();
    const sender = this.#sender;
    if (sender === undefined) return;
    this.#sender = undefined;
    sender.ref();
    const ended = new Promise<void>((resolve) => void sender.once(endOf(sender), () => resolve()));
    const timer = setTimeout(() => {
      if (sender instanceof Worker) void sender.terminate();
      else sender.close();
    }, closeMs);
    sender.postMessage('close' satisfies HeartbeatCommand);
    await ended;
    clearTimeout(timer);
  }

  #startSender(): Worker | MessagePort {
    const sender =
      this.#program === null || !isCloneable(this.#database)
        ? startHere(this.#database)
        : startThread(this.#program, this.#database);
    sender.on('message', ({ serverId, news }: HeartbeatMessage) => {
      const heartbeat = this.#heartbeats.get(serverId);
      if (news === 'lost') heartbeat?.lose(new Error('The server was silent for too long'));
      else heartbeat?.onRequest(news);
    });
    // Without heartbeats, the servers will be declared dead, so they are treated as lost immediately.
    const fail = (error: Error): void => {
      if (this.#sender !== sender) return;
      this.#sender = undefined;
      for (const heartbeat of this.#heartbeats.values()) heartbeat.lose(error);
    };
    sender.on('error', fail);
    sender.on(endOf(sender), () => fail(new Error('The thread that sends heartbeats has ended')));
    return sender;
  }

  #send(command: HeartbeatCommand): void {
    this.#sender?.postMessage(command);
  }
}

function endOf(sender: Worker | MessagePort): 'exit' | 'close' {
  return sender instanceof Worker ? 'exit' : 'close';
}

function isCloneable(database: DatabaseOptions): boolean {
  try {
    structuredClone(database);
    return true;
  } catch {
    return false;
  }
}

function startThread(program: URL, database: DatabaseOptions): Worker {
  return new Worker(program, { name: 'longshore-heartbeats', workerData: database, execArgv: [] });
}

function startHere(database: DatabaseOptions): MessagePort {
  const { port1, port2 } = new MessageChannel();
  sendHeartbeats(database, port2);
  port2.unref(); // only `port1` keeps the process running, as long as there are servers
  return port1;
}
