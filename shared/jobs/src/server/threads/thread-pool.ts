import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { CancelJob, SnoozeJob } from '../../job/errors.js';
import type { JsonValue } from '../../job/job.js';
import type { ErrorClass } from '../../job/retry.js';
import type { JobContext } from '../handler.js';
import { fromErrorData, toErrorData } from './error-data.js';
import type { ThreadAnswer, ThreadMessage, ThreadTask } from './thread-task.js';

/** The built file, also when this one runs from its source: loaders of TypeScript need not reach into threads. */
const workerFile = new URL('../../../dist/server/threads/thread-worker.js', import.meta.url).href;

/** A thread without work ends after this. */
const idleMs = 60_000;

export interface ThreadPoolOptions {
  /** Most threads at once; further jobs wait for one. */
  readonly threads: number;
  /** How long after its signal's abort a handler may go on before its thread is ended. */
  readonly graceMs: number;
  readonly maxLogLines: number;
}

/** Threads for handlers that compute. The first such job makes the pool; a server without them has none. */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  #pool: Promise<Piscina> | undefined;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /**
   * Calls the `run` of a module in a thread. Resolves and rejects as the handler does.
   *
   * @param known classes of errors that mean something to whoever catches what the handler throws
   */
  async run(module: URL, context: JobContext<unknown>, known: readonly ErrorClass[]): Promise<unknown> {
    this.#pool ??= this.#open();
    const pool = await this.#pool;
    const { port1: port, port2: far } = new MessageChannel();
    const attempt = new ThreadAttempt(context, port, this.#options.graceMs);
    const task: ThreadTask = {
      module: module.href,
      args: context.args as JsonValue,
      job: context.job,
      maxLogLines: this.#options.maxLogLines,
      port: far,
    };
    try {
      const answer = (await pool.run(task, { transferList: [far], signal: attempt.ended })) as ThreadAnswer;
      if ('result' in answer) return answer.result;
      if (answer.isReason) throw context.signal.reason;
      throw fromErrorData(answer.error, [...known, SnoozeJob, CancelJob]);
    } catch (error) {
      throw attempt.ended.aborted ? context.signal.reason : error;
    } finally {
      attempt.close();
    }
  }

  /** Ends every thread, whatever it does. */
  async close(): Promise<void> {
    const pool = await this.#pool;
    await pool?.destroy();
  }

  async #open(): Promise<Piscina> {
    const { Piscina } = await import('piscina');
    return new Piscina({
      filename: workerFile,
      name: 'runInThread',
      minThreads: 0,
      maxThreads: this.#options.threads,
      idleTimeout: idleMs,
      // A thread that waits for its next job must not stop the timers and sockets that a handler's libraries keep.
      atomics: 'disabled',
    });
  }
}

/** The main thread's end of one run in a thread. */
class ThreadAttempt {
  readonly #context: JobContext<unknown>;
  readonly #port: MessagePort;
  readonly #graceMs: number;
  readonly #end = new AbortController();
  #started = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: JobContext<unknown>, port: MessagePort, graceMs: number) {
    this.#context = context;
    this.#port = port;
    this.#graceMs = graceMs;
    port.on('message', (message: ThreadMessage) => this.#hear(message));
    if (context.signal.aborted) this.#abort();
    else context.signal.addEventListener('abort', this.#abort);
  }

  /** Aborts when the thread is to be ended. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#context.signal.removeEventListener('abort', this.#abort);
    this.#hearAll();
    this.#port.close();
  }

  readonly #abort = (): void => {
    this.#hearAll();
    this.#port.postMessage({ reason: toErrorData(this.#context.signal.reason) });
    // One that still waits for a thread need not begin.
    if (this.#started) this.#timer = setTimeout(() => this.#end.abort(), this.#graceMs);
    else this.#end.abort();
  };

  /** Messages that have arrived and not been told of yet: the answer comes another way and may be faster. */
  #hearAll(): void {
    for (;;) {
      const next: { message: ThreadMessage } | undefined = receiveMessageOnPort(this.#port);
      if (next === undefined) return;
      this.#hear(next.message);
    }
  }

  #hear(message: ThreadMessage): void {
    switch (message.kind) {
      case 'started':
        this.#started = true;
        break;
      case 'progress':
        this.#context.progress(message.percent, message.message);
        break;
      case 'log':
        this.#context.log[message.level](
          message.message,
          message.fields === null ? undefined : (JSON.parse(message.fields) as object),
        );
        break;
    }
  }
}
