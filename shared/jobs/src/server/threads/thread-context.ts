import { receiveMessageOnPort } from 'node:worker_threads';
import { JobCancelledError, JobTimeoutError } from '../../job/errors.js';
import type { JsonValue } from '../../job/job.js';
import { type JobLog, type LogLevel, toLogText } from '../../job/job-log.js';
import type { JobContext, RunningJob } from '../handler.js';
import { fromErrorData } from './error-data.js';
import type { AbortMessage, ThreadMessage, ThreadTask } from './thread-task.js';

/** Progress goes to the main thread no more often than this; a loop may call it a million times. */
const progressEveryMs = 100;

/** All that a handler in a thread sees of its job. */
export class ThreadContext implements JobContext<JsonValue> {
  readonly args: JsonValue;
  readonly job: RunningJob;
  readonly #task: ThreadTask;
  readonly #abort = new AbortController();
  #lines = 0;
  #progress: ThreadMessage | null = null;
  #progressSentMs = -Infinity;

  constructor(task: ThreadTask) {
    this.args = task.args;
    this.job = task.job;
    this.#task = task;
    task.port.on('message', (message: AbortMessage) => this.#aborted(message));
    this.#lookWhenAsked();
    this.#say({ kind: 'started' });
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

  readonly transaction = async (): Promise<never> => {
    throw new TypeError(
      'A handler in a thread has no transaction: the connection that would complete the job belongs to the main thread. ' +
        'Run it without a thread, or let it return what a handler on the main thread then writes.',
    );
  };

  /** The handler has ended. */
  end(): void {
    this.#sendProgress();
  }

  /** A handler that computes leaves no time for messages to arrive, so one that asks for the signal's state looks for them itself. */
  #lookWhenAsked(): void {
    const { signal } = this.#abort;
    const { port } = this.#task;
    let isAborted = false;
    signal.addEventListener('abort', () => (isAborted = true));
    const look = (): boolean => {
      const waiting: { message: AbortMessage } | undefined = isAborted
        ? undefined
        : receiveMessageOnPort(port);
      if (waiting !== undefined) this.#aborted(waiting.message);
      return isAborted;
    };
    Object.defineProperties(signal, {
      aborted: { get: look },
      throwIfAborted: {
        value: () => {
          if (look()) throw signal.reason;
        },
      },
    });
  }

  #aborted({ reason }: AbortMessage): void {
    this.#abort.abort(fromErrorData(reason, [JobCancelledError, JobTimeoutError]));
  }

  #log(level: LogLevel, message: string, fields: object | undefined): void {
    if (this.#lines++ > this.#task.maxLogLines) return;
    this.#say({ kind: 'log', level, ...toLogText(message, fields, Number.MAX_SAFE_INTEGER) });
  }

  #sendProgress(): void {
    if (this.#progress === null) return;
    this.#say(this.#progress);
    this.#progress = null;
    this.#progressSentMs = performance.now();
  }

  #say(message: ThreadMessage): void {
    this.#task.port.postMessage(message);
  }
}
