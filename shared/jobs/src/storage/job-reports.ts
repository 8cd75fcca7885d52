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

/** Progress and log lines of attempts, and the transitions of jobs. */
export interface JobReports {
  /**
   * Stores progress and log lines of attempts whose claims are valid; returns the claims that are not. Repeating a
   * report is safe: each line is stored once, and older progress does not replace newer.
   *
   * @param transaction the transaction that completes the reports' only job, see {@link Completions.completeInTransaction}
   */
  report(reports: readonly JobReport[], transaction?: TransactionClient): Promise<Claim[]>;
  /**
   * Lists log lines in the order of writing; empty if the job does not exist. They are kept as long as the longest
   * history.
   */
  listLogs(jobId: string, query?: LogQuery): Promise<LogLine[]>;
  countLogs(jobId: string, query?: Pick<LogQuery, 'attempt'>): Promise<number>;
  /**
   * Lists every state that a job has been in, with time and reason, oldest first; empty if the job does not exist.
   * Derived from what is stored about the job and its attempts, so it costs a plain job nothing.
   */
  listTransitions(jobId: string): Promise<Transition[]>;
}
