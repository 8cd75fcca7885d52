import type { Claim } from '../job/job.js';
import type { LogLine, NewLogLine, Progress } from '../job/job-log.js';
import type { Transition } from '../job/transition.js';
import type { TransactionClient } from './transaction.js';

/** The progress and log lines of one attempt since its previous report. */
export interface JobReport {
  readonly claim: Claim;
  /** `null` if the progress has not changed. */
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

/** Stores and lists the progress and log lines of attempts, and lists the transitions of jobs. */
export interface JobReports {
  /**
   * Stores progress and log lines of attempts whose claims are valid; returns the claims that are not. Repeating a
   * report is safe: each line is stored once, and older progress does not replace newer.
   *
   * @param transaction the transaction that completes the job (see {@link Completions.completeInTransaction}); all
   *   reports must be about that job
   */
  report(reports: readonly JobReport[], transaction?: TransactionClient): Promise<Claim[]>;
  /**
   * Lists log lines in the order in which they were written; empty if the job does not exist. Lines are kept for the
   * longest of the three retention periods, whatever the job's state.
   */
  listLogs(jobId: string, query?: LogQuery): Promise<LogLine[]>;
  countLogs(jobId: string, query?: Pick<LogQuery, 'attempt'>): Promise<number>;
  /**
   * Lists every state that a job has been in, with time and reason, oldest first; empty if the job does not exist.
   * Mostly derived from what is stored about the job and its attempts anyway, so that an ordinary job needs no
   * additional writes.
   */
  listTransitions(jobId: string): Promise<Transition[]>;
}
