import type { Claim, Job } from '../job/job.js';
import type { LogLine, NewLogLine, Progress } from '../job/job-log.js';
import type { Transition } from '../job/transition.js';
import type { TransactionClient } from './transaction.js';

/** The progress and log lines that an attempt has produced since its previous report. */
export interface JobReport {
  readonly claim: Claim;
  /** `null` if the progress has not changed. */
  readonly progress: (Progress & { readonly at: Date }) | null;
  readonly lines: readonly NewLogLine[];
}

export interface LogQuery {
  /** Only lines of this attempt. */
  readonly attempt?: number;
  /** Only lines written after the line with this id. */
  readonly after?: string;
  /** 100 by default. */
  readonly limit?: number;
  /** Number of lines to skip; 0 by default. */
  readonly offset?: number;
}

/** A log line together with the job that wrote it. */
export interface JobLogLine extends LogLine {
  readonly jobId: string;
}

/** Stores the progress and log lines of attempts; lists log lines and the state transitions of jobs. */
export interface JobReports {
  /**
   * Stores the progress and log lines of attempts. Returns the claims that are no longer valid; their reports are
   * ignored. Repeating a report is safe: each line is stored only once, and older progress does not replace newer
   * progress.
   *
   * @param transaction the transaction that completes the job (see {@link Completions.completeInTransaction}), if any;
   *   all reports must then be about that job
   */
  report(reports: readonly JobReport[], transaction?: TransactionClient): Promise<Claim[]>;
  /**
   * Lists a job's log lines in the order in which they were written; empty if the job does not exist. Lines older than
   * the longest period in {@link RetentionDays} may have been deleted.
   */
  listLogs(jobId: string, query?: LogQuery): Promise<LogLine[]>;
  /**
   * Lists the latest log lines of several jobs together, latest first. Jobs that do not exist, or are not in the given
   * queue any more, have none.
   *
   * @param jobs at most 1,000
   * @param limit maximum number of lines, of each job and in all
   */
  listLatestLogs(
    jobs: readonly Pick<Job, 'id' | 'queue' | 'createdAt'>[],
    limit: number,
  ): Promise<JobLogLine[]>;
  countLogs(jobId: string, query?: Pick<LogQuery, 'attempt'>): Promise<number>;
  /**
   * Lists the states that a job has been in, with time and reason, oldest first; empty if the job does not exist. An
   * implementation can derive most transitions from the stored job and its attempts, without additional writes.
   *
   * @param limit maximum number of transitions, from 2, by default {@link maxListedTransitions}: the creation and the
   *   newest others
   */
  listTransitions(jobId: string, limit?: number): Promise<Transition[]>;
}
