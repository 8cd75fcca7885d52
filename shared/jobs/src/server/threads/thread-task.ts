import type { MessagePort } from 'node:worker_threads';
import type { JsonText, JsonValue } from '../../job/job.js';
import type { LogLevel } from '../../job/job-log.js';
import type { RunningJob } from '../handler.js';
import type { ErrorData } from './error-data.js';

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

/** Sent by the main thread to abort the handler. */
export interface AbortMessage {
  readonly reason: ErrorData;
}

/** Sent by the worker thread while the handler runs. */
export type ThreadMessage =
  | { readonly kind: 'started' }
  | { readonly kind: 'progress'; readonly percent: number; readonly message: string | undefined }
  | {
      readonly kind: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly fields: JsonText | null;
    };
