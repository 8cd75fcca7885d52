import type { Attempt, Job, JobDocuments, StateCounts } from '../job/job.js';
import type { JobState } from '../job/state.js';
import type { JobFilter } from './job-filter.js';
import type { Orphan } from './orphan.js';
import type { TransactionClient } from './transaction.js';

export interface JobListQuery {
  readonly filter?: JobFilter;
  /** By creation. `newest` by default. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Rows to skip; 0 by default. */
  readonly offset?: number;
  /** Only jobs that come after the one with this id in the chosen order: every page costs the same. */
  readonly after?: string;
}

/**
 * How far a search for the jobs of a list goes:
 *
 * - `near`: the first few thousand jobs of each state, which is fast however many jobs there are and however rare the matches
 * - `history`: all jobs, straight away, because a search of the near ones was not enough
 * - `all`: the near jobs first, then all
 */
export type SearchReach = 'near' | 'history' | 'all';

export interface BriefListQuery extends JobListQuery {
  /** `all` by default. */
  readonly reach?: SearchReach;
}

/** Arguments that take more bytes as JSON are left out of brief lists. */
export const mostBriefBytes = 8_000;

/** A job in a brief list: its result is `null`. */
export interface BriefJob extends Job {
  /** Its arguments are left out, because they take more than {@link mostBriefBytes}; `args` is `null`. */
  readonly argsOmitted: boolean;
}

export interface BriefList {
  readonly jobs: BriefJob[];
  /** `false`: there may be more matches, some of them before the last of these; a search with a larger reach finds them. */
  readonly isComplete: boolean;
}

export interface JobPageQuery extends JobListQuery {
  /** `false`: arguments and results are not read; both are `null`. `true` by default. */
  readonly documents?: boolean;
  /** The page ends before its arguments and results take more bytes as JSON, though not before its first job. */
  readonly maxBytes: number;
}

export interface JobPage {
  readonly jobs: Job[];
  /** The page ended because of its size: more jobs follow the last one. */
  readonly cut: boolean;
}

export interface ContinuationPage {
  /** 100 by default. */
  readonly limit?: number;
  /** Only jobs after the one with this id. */
  readonly after?: string;
  /** As in {@link JobPageQuery}. */
  readonly documents?: boolean;
}

export interface LatestFailedQuery {
  /** Only jobs of this queue. */
  readonly queue?: string;
  readonly limit: number;
}

export interface JobCount {
  readonly count: number;
  /** `false`: there are more than were counted. */
  readonly exact: boolean;
}

/** Reads jobs. Reads may lag a moment behind writes; they never block them. */
export interface JobReader {
  /** `null` if there is no such job, or the id is no UUID. A caller's transaction sees what it has written. */
  find(id: string, transaction?: TransactionClient): Promise<Job | null>;
  /** Arguments and result as they are stored, to the last digit; `null` if there is no such job. */
  findDocuments(jobId: string): Promise<JobDocuments | null>;
  list(query: JobListQuery): Promise<Job[]>;
  /** As {@link list}, within a bounded amount of memory, whatever the jobs carry. */
  listPage(query: JobPageQuery): Promise<JobPage>;
  /** As {@link list}, for people: without large arguments and results, so that every job takes a few kilobytes at most. */
  listBrief(query: BriefListQuery): Promise<BriefList>;
  /**
   * Failed jobs by the time at which they failed, latest first, whenever they were created. Arguments and results are not
   * read; both are `null`.
   */
  listLatestFailed(query: LatestFailedQuery): Promise<Job[]>;
  /** Counts without scanning when the filter names only states and queues; otherwise up to 10 000. */
  count(filter?: JobFilter): Promise<JobCount>;
  /** Counts each state by itself, at a lower cost than one call per state. */
  countByState(filter?: JobFilter): Promise<Record<JobState, JobCount>>;
  /** Totals over all queues. */
  stateCounts(): Promise<StateCounts>;
  /** Oldest first; empty for a job that has not started or does not exist. */
  listAttempts(jobId: string): Promise<Attempt[]>;
  /** The dependents of a job or batch, oldest first. Known for at least 30 days. */
  listContinuations(id: string, page?: ContinuationPage): Promise<Job[]>;
  /** Jobs that no registered server will run. */
  listOrphans(): Promise<Orphan[]>;
}
