import type { Claim } from '../job/job.js';
import type { LogLine, NewLogLine, Progress } from '../job/job-log.js';
import type { Transition } from '../job/transition.js';
import type { TransactionClient } from './transaction.js';

/** Progress and log lines of one attempt since its last report. */
export interface JobReport {
  readonly claim: Claim;
  /** `null` if it has not changed. */
  readonly progress: (Progress & { readonly at: Date }) | null;
  readonly lines: readonly NewLogLine[];
}

export interface LogQuery {
  /** Only lines of this attempt. */
  readonly attempt?: number;
  /** Only lines after the one with this id. */
  readonly after?: string;
  /** 100 by default. */
  readonly limit?: number;
  /** Lines to skip; 0 by default. */
  readonly offset?: number;
}

/** Progress and log lines of running attempts, and the course that jobs have taken. */
export interface JobReports {
  /**
   * Stores progress and log lines of the attempts whose claims hold; returns the claims that do not, of which nothing is
   * stored. Repeating a report is safe: each line is stored once, and an older progress does not replace a newer one.
   *
   * @param transaction the one that completes the only job of the reports, see {@link Completions.completeWithin}
   */
  report(reports: readonly JobReport[], transaction?: TransactionClient): Promise<Claim[]>;
  /** Log lines in the order of writing; none for a job that does not exist. Kept as long as the longest history. */
  listLogs(jobId: string, query?: LogQuery): Promise<LogLine[]>;
  countLogs(jobId: string, query?: Pick<LogQuery, 'attempt'>): Promise<number>;
  /**
   * Every state that a job has been in, with time and reason, oldest first; empty for a job that does not exist. Derived from
   * what is stored about the job and its attempts, so that a plain job pays nothing for it.
   */
  listTransitions(jobId: string): Promise<Transition[]>;
}
