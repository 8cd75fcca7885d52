import type { Attempt, Job, JobDocuments, StateCounts } from '../job/job.js';
import type { FinishedState, JobState } from '../job/state.js';
import type { JobFilter } from './job-filter.js';
import type { Orphan } from './orphan.js';
import type { TransactionClient } from './transaction.js';

export interface JobListQuery {
  readonly filter?: JobFilter;
  /** By creation time; `newest` by default. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Rows to skip; 0 by default. */
  readonly offset?: number;
  /** Only jobs after the one with this id in the chosen order. Later pages cost no more than the first. */
  readonly after?: string;
}

/**
 * How many jobs are examined to find those to list:
 *
 * - `near`: the first few thousand of each state; fast, however many jobs there are and however rare the matches
 * - `history`: all jobs, without trying `near` first; for callers that have already done that and not found enough
 * - `all`: the same jobs as `near`, then all jobs if these contain too few matches
 */
export type SearchReach = 'near' | 'history' | 'all';

export interface BriefListQuery extends JobListQuery {
  /** `all` by default. */
  readonly reach?: SearchReach;
}

/** Maximum size of a job's arguments in brief lists, as JSON, in bytes. Larger arguments are left out. */
export const maxBriefBytes = 8_000;

/** A job in a brief list: its result is `null`. */
export interface BriefJob extends Job {
  /** Whether the arguments are left out because they are larger than {@link maxBriefBytes}; `args` is then `null`. */
  readonly argsOmitted: boolean;
}

export interface BriefList {
  readonly jobs: BriefJob[];
  /** `false` if matches may be missing, even between those in `jobs`. A wider `reach` finds them. */
  readonly isComplete: boolean;
}

export interface JobPageQuery extends JobListQuery {
  /** Whether to include arguments and results; if `false`, both are `null`. `true` by default. */
  readonly documents?: boolean;
  /**
   * Maximum total size of the page's arguments and results as JSON, in bytes. The first job is returned even if it
   * alone exceeds the limit.
   */
  readonly maxBytes: number;
}

export interface JobPage {
  readonly jobs: Job[];
  /** Whether the page ends early because of `maxBytes`, so that more jobs follow. */
  readonly cut: boolean;
}

/** A search for the words of `filter.q`. */
export interface JobSearchQuery extends Omit<JobPageQuery, 'order'> {
  readonly filter: JobFilter;
  /** `best` by default: fewest typos first, then newest. `after` requires `newest` or `oldest`. */
  readonly order?: 'best' | 'newest' | 'oldest';
}

export interface JobSearchPage extends JobPage {
  /** Number of matches on all pages, among the jobs that were searched. */
  readonly total: number;
  /** Whether only the newest jobs of some states were searched; older ones may match, too. */
  readonly partial: boolean;
}

/** The oldest dependents of a job or batch, by id. */
export interface Dependents {
  readonly parentId: string;
  readonly ids: readonly string[];
}

export interface ContinuationPage {
  /** 100 by default. */
  readonly limit?: number;
  /** Only jobs after the one with this id. */
  readonly after?: string;
  /** Whether to include arguments and results, as in {@link JobPageQuery}. `true` by default. */
  readonly documents?: boolean;
}

export interface SearchedRangeQuery extends Pick<JobListQuery, 'order' | 'after'> {
  readonly filter: JobFilter;
}

/** The jobs that are searched for the words of a filter. If the filter has no words, both members are empty. */
export interface SearchedRange {
  /** For each finished state in which only some jobs are searched: the id of the last job searched, in list order. */
  readonly lastIds: Readonly<Partial<Record<FinishedState, string>>>;
  /** The unfinished states in which only some jobs are searched. */
  readonly unfinished: readonly JobState[];
}

/**
 * The position of a failed job in a list sorted by time of failure. Remains valid after the job is retried or deleted.
 */
export interface FailurePosition {
  readonly id: string;
  readonly failedAt: Date;
}

export interface LatestFailedQuery {
  /** Only jobs of this queue. */
  readonly queue?: string;
  /**
   * Only jobs after this position. If the job at the position has been retried or deleted, jobs that failed in the same
   * millisecond may be repeated.
   */
  readonly after?: FailurePosition;
  readonly limit: number;
}

export interface FailureSearchQuery {
  /** `state` is ignored: only failed jobs are searched. */
  readonly filter: JobFilter;
  /** Only jobs after this position, as in {@link LatestFailedQuery}. */
  readonly after?: FailurePosition;
  readonly limit: number;
  /** Maximum number of failed jobs to examine. */
  readonly maxExamined: number;
}

export interface FoundFailures {
  readonly jobs: BriefJob[];
  /**
   * The last job examined, if the search ended there because of `maxExamined` and more jobs may match; otherwise
   * `null`.
   */
  readonly last: FailurePosition | null;
}

export interface JobCount {
  readonly count: number;
  /** `false` if there may be more than were counted. */
  readonly exact: boolean;
}

/** Reads jobs. Reads may lag slightly behind writes and never block them. */
export interface JobReader {
  /** Returns a job; `null` if it does not exist or the id is not a UUID. A caller's transaction sees its own writes. */
  find(id: string, transaction?: TransactionClient): Promise<Job | null>;
  /**
   * Returns the jobs with these ids, in any order, without their arguments and results. Ids that are not UUIDs or
   * belong to no job are ignored.
   */
  findMany(ids: readonly string[]): Promise<Job[]>;
  /** Returns a job's arguments and result exactly as stored; `null` if the job does not exist. */
  findDocuments(jobId: string): Promise<JobDocuments | null>;
  list(query: JobListQuery): Promise<Job[]>;
  /** Like {@link list}, but limits the total size of the jobs, so that a page fits into memory. */
  listPage(query: JobPageQuery): Promise<JobPage>;
  /**
   * Like {@link list}, but for display: without results and large arguments, so that no job takes more than a few
   * kilobytes.
   */
  listBrief(query: BriefListQuery): Promise<BriefList>;
  /**
   * Finds the jobs in which every word of `q` occurs, and tolerates typos: a word also matches words in names, queues,
   * tags, recurring jobs and errors that differ from it by one typo, or by two if it has eight letters or more. Words
   * with digits or fewer than four letters are taken literally. The time is bounded, however many jobs there are: an
   * implementation may search only the newest jobs of each state.
   */
  search(query: JobSearchQuery): Promise<JobSearchPage>;
  /**
   * Lists failed jobs by the time of failure, latest first, regardless of when they were created. Otherwise like
   * {@link listBrief}.
   */
  listLatestFailed(query: LatestFailedQuery): Promise<BriefJob[]>;
  /**
   * Finds failed jobs that match a filter, in the order of {@link listLatestFailed}. Examines at most `maxExamined` of
   * the latest failures, so the cost does not depend on how many there are.
   */
  searchFailed(query: FailureSearchQuery): Promise<FoundFailures>;
  /** Returns which jobs a list with this filter, order and position would search for the words of the filter. */
  searchedRange(query: SearchedRangeQuery): Promise<SearchedRange>;
  /**
   * Counts without a scan if the filter has only states and queues; otherwise counts up to 10 000. The count is a lower
   * bound if not all jobs were searched for the words of the filter.
   */
  count(filter?: JobFilter): Promise<JobCount>;
  /** Like {@link count}, but for each state separately. Cheaper than one call per state. */
  countByState(filter?: JobFilter): Promise<Record<JobState, JobCount>>;
  /** Returns the number of jobs in each state, across all queues. */
  stateCounts(): Promise<StateCounts>;
  /** Lists a job's attempts, oldest first; empty for a job that has not started or does not exist. */
  listAttempts(jobId: string): Promise<Attempt[]>;
  /** Lists the dependents of a job or batch, oldest first. Dependencies are kept for at least 30 days. */
  listContinuations(id: string, page?: ContinuationPage): Promise<Job[]>;
  /**
   * Lists the ids of the oldest dependents of several jobs or batches, at most `limit` for each. Jobs and batches
   * without dependents are left out. The dependents themselves may have been deleted since.
   */
  listDependents(ids: readonly string[], limit: number): Promise<Dependents[]>;
  /**
   * Counts the jobs that {@link RetryOptions.dependents} would restore if these jobs were retried, up to 1000.
   *
   * @param ids the ids of these jobs and of their batches
   */
  countSkipped(ids: readonly string[]): Promise<JobCount>;
  /** Lists the waiting jobs that no registered server will run, grouped by queue and name. */
  listOrphans(): Promise<Orphan[]>;
}
