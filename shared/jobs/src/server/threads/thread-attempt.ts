import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { AttemptReader } from '../attempt-reader.js';
import type { JobContext, RunningJob } from '../handler.js';
import { type ErrorData, toErrorData } from './error-data.js';
import type { JsonText, JsonValue } from '../../job/job.js';
import type { LogLevel } from '../../job/job-log.js';

/** A job context whose handler runs in a thread: `reader` reads for the thread. */
export interface ReadableContext extends JobContext<unknown> {
  readonly reader: AttemptReader;
}

/**
 * The main thread's side of a handler that runs in a worker thread. Forwards the abort signal to the thread, and the
 * handler's progress and log lines to the job. Reads for the handler.
 */
export class ThreadAttempt {
  readonly #context: ReadableContext;
  readonly #port: MessagePort;
  readonly #graceMs: number;
  readonly #end = new AbortController();
  #started = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: ReadableContext, port: MessagePort, graceMs: number) {
    this.#context = context;
    this.#port = port;
    this.#graceMs = graceMs;
    port.on('message', (message: ThreadMessage) => this.#onMessage(message));
    if (context.signal.aborted) this.#abort();
    else context.signal.addEventListener('abort', this.#abort);
  }

  /**
   * Aborts when the run must end without waiting for the handler. If the handler has started, its thread is terminated.
   * Otherwise, the handler never starts.
   */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#context.signal.removeEventListener('abort', this.#abort);
    this.#drainMessages();
    this.#port.close();
  }

  readonly #abort = (): void => {
    this.#drainMessages();
    this.#post({ kind: 'abort', reason: toErrorData(this.#context.signal.reason) });
    // A task that still waits for a thread gets no grace period.
    if (this.#started) this.#timer = setTimeout(() => this.#end.abort(), this.#graceMs);
    else this.#end.abort();
  };

  /**
   * Processes all queued messages now. The result arrives on another channel and could otherwise be processed first.
   */
  #drainMessages(): void {
    for (;;) {
      const next: { message: ThreadMessage } | undefined = receiveMessageOnPort(this.#port);
      if (next === undefined) return;
      this.#onMessage(next.message);
    }
  }

  #onMessage(message: ThreadMessage): void {
    switch (message.kind) {
      case 'started':
        this.#started = true;
        break;
      case 'read':
        void this.#read(message);
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

  async #read({ id, read, args }: ReadMessage): Promise<void> {
    const { reader } = this.#context;
    try {
      const value: unknown = await (reader[read] as (...given: unknown[]) => Promise<unknown>)(...args);
      this.#post({ kind: 'answer', id, value });
    } catch (error) {
      this.#post({ kind: 'refusal', id, error: toErrorData(error) });
    }
  }

  #post(message: MainMessage): void {
    this.#port.postMessage(message);
  }
}

/** The message that starts a handler in a worker thread. */
export interface ThreadTask {
  /** The URL of the module that exports the handler as `run`. */
  readonly module: string;
  readonly args: JsonValue;
  readonly job: Omit<RunningJob, 'args'>;
  /**
   * Maximum number of log lines per attempt. The thread sends at most one line more, so that the main thread can log
   * that lines were dropped.
   */
  readonly maxLogLines: number;
  readonly port: MessagePort;
}

/** How a handler in a worker thread ended. */
export type ThreadResult =
  | { readonly result: JsonValue }
  /** `isReason` is `true` if the handler threw the signal's abort reason. */
  | { readonly error: ErrorData; readonly isReason: boolean };

/** Sent by the main thread while the handler runs: to abort it, or in reply to a {@link ReadMessage}. */
export type MainMessage =
  | { readonly kind: 'abort'; readonly reason: ErrorData }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: ErrorData };

/** Asks the main thread to call a method of the attempt's reader. */
interface ReadMessage {
  readonly kind: 'read';
  /** Numbers the reads of the thread's handler. */
  readonly id: number;
  readonly read: keyof AttemptReader;
  readonly args: readonly unknown[];
}

/** Sent by the worker thread while the handler runs. */
export type ThreadMessage =
  | { readonly kind: 'started' }
  | ReadMessage
  | { readonly kind: 'progress'; readonly percent: number; readonly message: string | undefined }
  | {
      readonly kind: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly fields: JsonText | null;
    };
