import { receiveMessageOnPort } from 'node:worker_threads';
import { JobCancelledError, JobTimeoutError, StorageUnavailableError } from '../../job/errors.js';
import type { JsonValue } from '../../job/job.js';
import { type JobLog, type LogLevel, toLogText } from '../../job/job-log.js';
import type { AttemptReader } from '../attempt-reader.js';
import { contextReads } from '../context-reads.js';
import type { JobContext, RunningJob } from '../handler.js';
import { fromErrorData } from './error-data.js';
import type { MainMessage, ThreadMessage, ThreadTask } from './thread-attempt.js';

/**
 * Minimum interval between progress messages to the main thread, in milliseconds. Keeps the number of messages low if a
 * handler reports progress in a tight loop.
 */
const progressEveryMs = 100;

/** The job context of a handler in a worker thread. */
export class ThreadContext implements JobContext<JsonValue> {
  readonly args: JsonValue;
  readonly job: RunningJob<JsonValue>;
  readonly #task: ThreadTask;
  readonly #abort = new AbortController();
  /** Settles the reads that the main thread has not answered yet. */
  readonly #pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #reads = 0;
  #lines = 0;
  #progress: ThreadMessage | null = null;
  #progressSentMs = -Infinity;

  constructor(task: ThreadTask) {
    this.args = task.args;
    this.job = { ...task.job, args: task.args };
    this.#task = task;
    task.port.on('message', (message: MainMessage) => this.#onMessage(message));
    this.#checkWhenRead();
    this.#send({ kind: 'started' });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  readonly log: JobLog = {
    debug: (message, fields) => this.#log('debug', message, fields),
    info: (message, fields) => this.#log('info', message, fields),
    warn: (message, fields) => this.#log('warn', message, fields),
    error: (message, fields) => this.#log('error', message, fields),
  };

  readonly progress = (percent: number, message?: string): void => {
    this.#progress = { kind: 'progress', percent, message };
    if (performance.now() - this.#progressSentMs >= progressEveryMs) this.#sendProgress();
  };

  readonly #reading = contextReads({
    parents: () => this.#read('parents'),
    batch: () => this.#read('batch'),
    batchJobs: (query) => this.#read('batchJobs', query),
    attempts: () => this.#read('attempts'),
  });

  readonly parents = this.#reading.parents;
  readonly batch = this.#reading.batch;
  readonly earlierErrors = this.#reading.earlierErrors;

  readonly transaction = async (): Promise<never> => {
    throw new TypeError(
      'A handler in a thread cannot use transaction: the connection that completes the job belongs to the main thread. ' +
        'Run it without a thread, or return the data and write it in a handler on the main thread.',
    );
  };

  readonly step = Object.assign(refuseSteps, { version: refuseSteps });
  readonly sleep = refuseSteps;
  readonly waitFor = refuseSteps;
  readonly enqueueAndWait = refuseSteps;

  readonly enqueue = refuseToEnqueue;
  readonly enqueueMany = refuseToEnqueue;
  readonly enqueueBatch = refuseToEnqueue;
  readonly sendSignal = refuseToEnqueue;

  /** Sends the latest progress if it has not been sent yet. Must be called after the handler has ended. */
  end(): void {
    this.#sendProgress();
  }

  /**
   * Makes the signal check for an abort message whenever the handler reads `aborted` or calls `throwIfAborted`. A
   * handler that only computes never yields to the event loop, so it would not receive the message otherwise.
   */
  #checkWhenRead(): void {
    const { signal } = this.#abort;
    const { port } = this.#task;
    let isAborted = false;
    signal.addEventListener('abort', () => (isAborted = true));
    const check = (): boolean => {
      for (;;) {
        const waiting: { message: MainMessage } | undefined = isAborted
          ? undefined
          : receiveMessageOnPort(port);
        if (waiting === undefined) return isAborted;
        this.#onMessage(waiting.message);
      }
    };
    Object.defineProperties(signal, {
      aborted: { get: check },
      throwIfAborted: {
        value: () => {
          if (check()) throw signal.reason;
        },
      },
    });
  }

  #onMessage(message: MainMessage): void {
    switch (message.kind) {
      case 'abort':
        this.#abort.abort(fromErrorData(message.reason, [JobCancelledError, JobTimeoutError]));
        break;
      case 'answer':
        this.#taken(message.id)?.resolve(message.value);
        break;
      case 'refusal':
        this.#taken(message.id)?.reject(fromErrorData(message.error, [StorageUnavailableError]));
        break;
    }
  }

  /** Has the main thread call a method of the attempt's reader. */
  #read<Read extends keyof AttemptReader>(
    read: Read,
    ...args: Parameters<AttemptReader[Read]>
  ): ReturnType<AttemptReader[Read]> {
    const id = ++this.#reads;
    return new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ kind: 'read', id, read, args });
    }) as ReturnType<AttemptReader[Read]>;
  }

  #taken(id: number): { resolve(value: unknown): void; reject(error: Error): void } | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #log(level: LogLevel, message: string, fields: object | undefined): void {
    if (this.#lines++ > this.#task.maxLogLines) return;
    this.#send({ kind: 'log', level, ...toLogText(message, fields, Number.MAX_SAFE_INTEGER) });
  }

  #sendProgress(): void {
    if (this.#progress === null) return;
    this.#send(this.#progress);
    this.#progress = null;
    this.#progressSentMs = performance.now();
  }

  #send(message: ThreadMessage): void {
    this.#task.port.postMessage(message);
  }
}

async function refuseSteps(): Promise<never> {
  throw new TypeError(
    'A handler in a thread has no steps: they are stored by the main thread. ' +
      'Run it without a thread, and enqueue the computation as a job of its own with enqueueAndWait.',
  );
}

async function refuseToEnqueue(): Promise<never> {
  throw new TypeError(
    'A handler in a thread cannot enqueue or send signals: the client belongs to the main thread. ' +
      'Run it without a thread, or return the jobs to enqueue and do so in a handler on the main thread.',
  );
}
