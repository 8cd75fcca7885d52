import type { MessagePort } from 'node:worker_threads';
import type { JsonText, JsonValue } from '../../job/job.js';
import type { LogLevel } from '../../job/job-log.js';
import type { RunningJob } from '../handler.js';
import type { ErrorData } from './error-data.js';

/** A task for a worker thread. */
export interface ThreadTask {
  /** The URL of the module whose `run` is called. */
  readonly module: string;
  readonly args: JsonValue;
  readonly job: RunningJob;
  /** The thread sends no more lines than this, because the main thread would drop them. */
  readonly maxLogLines: number;
  readonly port: MessagePort;
}

/** The result of a task. */
export type ThreadResult =
  | { readonly result: JsonValue }
  /** `isReason`: the handler threw its signal's abort reason. */
  | { readonly error: ErrorData; readonly isReason: boolean };

/** Messages from the main thread while the handler runs. */
export interface AbortMessage {
  readonly reason: ErrorData;
}

/** Messages from the thread while the handler runs. */
export type ThreadMessage =
  | { readonly kind: 'started' }
  | { readonly kind: 'progress'; readonly percent: number; readonly message: string | undefined }
  | {
      readonly kind: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly fields: JsonText | null;
    };
