import { MessageChannel } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { CancelJob, SnoozeJob } from '../../job/errors.js';
import type { JsonValue } from '../../job/job.js';
import type { ErrorClass } from '../../job/is-a.js';
import type { JobContext } from '../handler.js';
import type { Logger } from '../logger.js';
import { fromErrorData } from './error-data.js';
import { ThreadAttempt } from './thread-attempt.js';
import type { ThreadAnswer, ThreadTask } from './thread-task.js';
import { Turns } from './turns.js';

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
  readonly logger: Logger;
}

/** Threads for handlers that compute. The first such job makes the pool; a server without them has none. */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  /** Whoever waits does so here: Piscina 5 forgets what waits when it ends the last thread, until more work comes. */
  readonly #turns: Turns;
  #pool: Promise<Piscina> | undefined;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#turns = new Turns(options.threads);
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
      await this.#turns.take(attempt.ended);
      const answer = (await pool
        .run(task, { transferList: [far], signal: attempt.ended })
        .finally(() => this.#turns.end())) as ThreadAnswer;
      if ('result' in answer) return answer.result;
      if (answer.isReason) throw context.signal.reason;
      throw fromErrorData(answer.error, [...known, SnoozeJob, CancelJob]);
    } catch (error) {
      throw attempt.ended.aborted ? context.signal.reason : error;
    } finally {
      attempt.close();
    }
  }

  /** Terminates every thread, even if it is busy. */
  async close(): Promise<void> {
    const pool = await this.#pool;
    await pool?.destroy();
  }

  async #open(): Promise<Piscina> {
    const { Piscina } = await import('piscina');
    const pool = new Piscina({
      filename: workerFile,
      name: 'runInThread',
      minThreads: 0,
      maxThreads: this.#options.threads,
      idleTimeout: idleMs,
      // A thread that waits for its next job must not stop the timers and sockets that a handler's libraries keep.
      atomics: 'disabled',
    });
    pool.on('error', (error: unknown) =>
      this.#options.logger.error(
        { err: error },
        'a thread ended: something threw that its handler had left behind',
      ),
    );
    return pool;
  }
}
