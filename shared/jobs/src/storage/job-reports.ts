import type { Clock } from './clock.js';
import type { Claim } from '../job/job.js';
import type { LogLine, NewLogLine, Progress } from '../job/job-log.js';
import type { Transition } from '../job/transition.js';
import type { TransactionClient } from './transaction.js';

/** What one attempt has said of itself since its last report. */
export interface JobReport {
  readonly claim: Claim;
  /** `null` if it has not changed. */
  readonly progress: (Progress & { readonly at: Date }) | null;
  readonly lines: readonly NewLogLine[];
}

/** Where servers write what running attempts say of themselves. */
export interface JobReports {
  /** By which the times in reports are told. */
  readonly clock: Clock;
  /**
   * Keeps progress and lines of the attempts whose claims hold; returns the claims that do not, of which nothing is kept. A
   * report may be repeated: each line is kept once, and an older progress does not replace a newer one.
   *
   * @param transaction the one that completes the only job of the reports, see `completeWithin`
   */
  report(reports: readonly JobReport[], transaction?: TransactionClient): Promise<Claim[]>;
}

export interface LogQuery {
  /** Only lines of this attempt. */
  readonly attempt?: number;
  /** Only lines after the one with this id. */
  readonly after?: string;
  /** 100 by default. */
  readonly limit?: number;
  /** Lines to pass over; 0 by default. */
  readonly offset?: number;
}

/** What jobs said of themselves while they ran. */
export interface JobLogReader {
  /** The lines of a job's log in the order of writing; empty for a job that is unknown. Kept as long as the longest history. */
  listLogs(jobId: string, query?: LogQuery): Promise<LogLine[]>;
  /**
   * Every state that a job has been in, with time and reason, oldest first; empty for a job that is unknown. Derived from what is
   * stored about the job and its attempts, so that the plain job pays nothing for it.
   */
  listTransitions(jobId: string): Promise<Transition[]>;
  /** How many lines there are. */
  countLogs(jobId: string, query?: Pick<LogQuery, 'attempt'>): Promise<number>;
}
