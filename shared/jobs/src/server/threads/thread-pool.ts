import { existsSync } from 'node:fs';
import { MessageChannel } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { CancelJob, SnoozeJob } from '../../job/errors.js';
import type { JsonValue } from '../../job/job.js';
import type { ErrorClass } from '../../job/is-a.js';
import type { Logger } from '../logger.js';
import { fromErrorData } from './error-data.js';
import { type ReadableContext, ThreadAttempt, type ThreadResult, type ThreadTask } from './thread-attempt.js';

/**
 * Path of the compiled worker. Worker threads do not load TypeScript, so this file is used even when this module runs
 * from source.
 */
const workerPath = '../../../dist/server/threads/thread-worker.js';

/** How long an idle thread is kept, in milliseconds. */
const idleMs = 60_000;

export interface ThreadPoolOptions {
  /** Maximum number of threads. When all are busy, further jobs wait. */
  readonly threads: number;
  /** How long a handler can continue after its signal aborts before its thread is terminated, in milliseconds. */
  readonly graceMs: number;
  readonly maxLogLines: number;
  readonly logger: Logger;
}

/** Runs CPU-bound handlers in worker threads. Creates the Piscina pool when the first such job runs. */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  /**
   * Makes jobs wait here instead of in Piscina's queue. In Piscina 5, queued tasks can get stuck: if the last thread
   * ends, they do not start until another task arrives.
   */
  readonly #slots: FifoSemaphore;
  #pool: Promise<Piscina> | undefined;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#slots = new FifoSemaphore(options.threads);
  }

  /**
   * Calls the `run` export of a module in a thread. Resolves or rejects as the handler does. If the signal aborts and
   * the handler does not end in time, terminates the thread and rejects with the signal's reason.
   *
   * @param errorClasses classes to restore for errors from the handler; see {@link fromErrorData}
   */
  async run(module: URL, context: ReadableContext, errorClasses: readonly ErrorClass[]): Promise<unknown> {
    this.#pool ??= this.#open();
    const pool = await this.#pool;
    const { port1: port, port2: threadPort } = new MessageChannel();
    const attempt = new ThreadAttempt(context, port, this.#options.graceMs);
    const { args: _, ...job } = context.job;
    const task: ThreadTask = {
      module: module.href,
      args: context.args as JsonValue,
      job,
      maxLogLines: this.#options.maxLogLines,
      port: threadPort,
    };
    try {
      await this.#slots.take(attempt.ended);
      const answer = (await pool
        .run(task, { transferList: [threadPort], signal: attempt.ended })
        .finally(() => this.#slots.release())) as ThreadResult;
      if ('result' in answer) return answer.result;
      if (answer.isReason) throw context.signal.reason;
      throw fromErrorData(answer.error, [...errorClasses, SnoozeJob, CancelJob]);
    } catch (error) {
      throw attempt.ended.aborted ? context.signal.reason : error;
    } finally {
      attempt.close();
    }
  }

  /** Terminates all threads, including busy ones. */
  async close(): Promise<void> {
    const pool = await this.#pool;
    await pool?.destroy();
  }

  async #open(): Promise<Piscina> {
    const { Piscina } = await import('piscina');
    const pool = new Piscina({
      filename: workerFile(),
      name: 'runInThread',
      minThreads: 0,
      maxThreads: this.#options.threads,
      idleTimeout: idleMs,
      // Keeps timers and sockets of libraries working while a thread waits for its next job.
      atomics: 'disabled',
    });
    pool.on('error', (error: unknown) =>
      this.#options.logger.error(
        { err: error },
        'a thread ended because of an error in work that a finished handler had left running',
      ),
    );
    return pool;
  }
}

/**
 * Returns the URL of the worker file.
 *
 * @throws {Error} if the file is missing, as in a bundle
 */
function workerFile(): string {
  const here: unknown = import.meta.url; // undefined in a CommonJS bundle
  const file = typeof here === 'string' ? new URL(workerPath, here) : null;
  if (file === null || !existsSync(file))
    throw new Error(
      'Handlers in threads need the files of @longshore/jobs: leave it out of the bundle (esbuild: --external:@longshore/jobs) and install it',
    );
  return file.href;
}

/** A semaphore that serves callers in order of arrival. */
export class FifoSemaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /**
   * Waits for a free slot and takes it. The caller must call `release` afterwards. If the signal aborts first, rejects
   * with the signal's reason.
   */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const hasBegun = await new Promise<boolean>((resolve) => {
      const giveUp = (): void => {
        this.#waiting.delete(begin);
        resolve(false);
      };
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(begin);
    });
    if (!hasBegun) signal.throwIfAborted();
  }

  /** Releases a slot. The slot goes to the first waiting caller, if there is one. */
  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
    } else {
      this.#waiting.delete(next);
      next();
    }
  }
}
