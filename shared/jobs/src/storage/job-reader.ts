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
  /** Only jobs after the one with this id in the chosen order. Every page costs the same. */
  readonly after?: string;
}

/**
 * How many jobs are examined to find those of a list:
 *
 * - `near`: the first few thousand of each state, which is fast however many jobs there are and however rare the
 *   matches
 * - `history`: all jobs at once, for callers that have already searched `near` without finding enough
 * - `all`: the jobs of `near` and, if they are not enough, all jobs
 */
export type SearchReach = 'near' | 'history' | 'all';

export interface BriefListQuery extends JobListQuery {
  /** `all` by default. */
  readonly reach?: SearchReach;
}

/** Arguments that take more bytes as JSON are left out of brief lists. */
export const maxBriefBytes = 8_000;

/** A job in a brief list: its result is `null`. */
export interface BriefJob extends Job {
  /** Whether the arguments are left out because they take more than {@link maxBriefBytes}; `args` is then `null`. */
  readonly argsOmitted: boolean;
}

export interface BriefList {
  readonly jobs: BriefJob[];
  /** `false` if matches may be missing, even between those in `jobs`. A search with a larger reach finds them. */
  readonly isComplete: boolean;
}

export interface JobPageQuery extends JobListQuery {
  /** `false` skips arguments and results; both are `null`. `true` by default. */
  readonly documents?: boolean;
  /**
   * Maximum total size of the page's arguments and results as JSON, in bytes. The first job is returned even if it
   * exceeds the size alone.
   */
  readonly maxBytes: number;
}

export interface JobPage {
  readonly jobs: Job[];
  /** Whether the page ended early because it reached its maximum size, so that there are more jobs. */
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
  /** Whether only the newest jobs of some state were searched, so that older ones may match, too. */
  readonly partial: boolean;
}

/** The oldest dependents of a job or batch. */
export interface Dependents {
  readonly parentId: string;
  readonly ids: readonly string[];
}

export interface ContinuationPage {
  /** 100 by default. */
  readonly limit?: number;
  /** Only jobs after the one with this id. */
  readonly after?: string;
  /** As in {@link JobPageQuery}. */
  readonly documents?: boolean;
}

export interface SearchedRangeQuery extends Pick<JobListQuery, 'order' | 'after'> {
  readonly filter: JobFilter;
}

/** Which jobs are searched for the words of a filter. Without words, all jobs are searched, and both members are empty. */
export interface SearchedRange {
  /** For each finished state in which only some jobs are searched: the id of the last one searched, in list order. */
  readonly lastIds: Readonly<Partial<Record<FinishedState, string>>>;
  /** The unfinished states in which only some jobs are searched. */
  readonly unfinished: readonly JobState[];
}

/** The position of a failed job in a list sorted by time of failure. It remains valid when the job is retried or deleted. */
export interface FailurePosition {
  readonly id: string;
  readonly failedAt: Date;
}

export interface LatestFailedQuery {
  /** Only jobs of this queue. */
  readonly queue?: string;
  /** Only jobs after this position. May repeat jobs that failed in the same millisecond if that job has left the list. */
  readonly after?: FailurePosition;
  readonly limit: number;
}

export interface FailureSearchQuery {
  /** Its states are ignored. */
  readonly filter: JobFilter;
  /** Like that of {@link LatestFailedQuery}. */
  readonly after?: FailurePosition;
  readonly limit: number;
  /** Maximum number of failed jobs to examine. */
  readonly maxExamined: number;
}

export interface FoundFailures {
  readonly jobs: BriefJob[];
  /** The last failed job that was examined, if earlier ones were not and may match; `null` otherwise. */
  readonly last: FailurePosition | null;
}

export interface JobCount {
  readonly count: number;
  /** `false` if there are more than were counted. */
  readonly exact: boolean;
}

/** Reads jobs. Reads may lag slightly behind writes and never block them. */
export interface JobReader {
  /** Returns `null` if the job does not exist or the id is not a UUID. A caller's transaction sees its own writes. */
  find(id: string, transaction?: TransactionClient): Promise<Job | null>;
  /**
   * Returns the jobs with these ids, in any order, without their arguments and results. Ids of jobs that do not exist and ids
   * that are not UUIDs are left out.
   */
  findMany(ids: readonly string[]): Promise<Job[]>;
  /** Returns the arguments and the result exactly as stored; `null` if the job does not exist. */
  findDocuments(jobId: string): Promise<JobDocuments | null>;
  list(query: JobListQuery): Promise<Job[]>;
  /** Like {@link list}, but with bounded memory, whatever the size of the jobs. */
  listPage(query: JobPageQuery): Promise<JobPage>;
  /** Like {@link list}, for people: without results and large arguments, so that every job takes a few kilobytes at most. */
  listBrief(query: BriefListQuery): Promise<BriefList>;
  /**
   * Finds the jobs in which every word of `q` occurs, and tolerates typos: a word also matches words in names,
   * queues, tags, recurring jobs and errors that differ from it by one typo, or by two if it has eight letters or
   * more. Words with digits or fewer than four letters are taken literally. Takes a bounded time, however many jobs
   * there are: a storage may search only the newest jobs of each state.
   */
  search(query: JobSearchQuery): Promise<JobSearchPage>;
  /**
   * Lists failed jobs by the time of failure, latest first, regardless of when they were created. Otherwise like {@link
   * listBrief}.
   */
  listLatestFailed(query: LatestFailedQuery): Promise<BriefJob[]>;
  /**
   * Finds failed jobs that match a filter, in the order of {@link listLatestFailed}. Examines the latest failures only, so the
   * cost does not depend on how many there are.
   */
  searchFailed(query: FailureSearchQuery): Promise<FoundFailures>;
  /** Returns which jobs a list with this filter, order and position would search for words. */
  searchedRange(query: SearchedRangeQuery): Promise<SearchedRange>;
  /**
   * Counts without a scan if the filter has only states and queues; otherwise counts up to 10 000. The count is a lower bound
   * if not all jobs were searched for the words of the filter.
   */
  count(filter?: JobFilter): Promise<JobCount>;
  /** Counts each state separately, cheaper than one call per state. */
  countByState(filter?: JobFilter): Promise<Record<JobState, JobCount>>;
  /** Returns how many jobs are in each state, across all queues. */
  stateCounts(): Promise<StateCounts>;
  /** Lists a job's attempts, oldest first; empty for a job that has not started or does not exist. */
  listAttempts(jobId: string): Promise<Attempt[]>;
  /** Lists the dependents of a job or batch, oldest first. Available for at least 30 days. */
  listContinuations(id: string, page?: ContinuationPage): Promise<Job[]>;
  /**
   * Lists the ids of the oldest dependents of several jobs or batches, at most `limit` for each. Those without dependents are
   * left out; a dependent may have been removed.
   */
  listDependents(ids: readonly string[], limit: number): Promise<Dependents[]>;
  /**
   * Counts the jobs that {@link RetryOptions.dependents} would restore if these jobs were retried, up to 1000.
   *
   * @param ids jobs, and batches of which a job would be retried
   */
  countSkipped(ids: readonly string[]): Promise<JobCount>;
  /** Lists waiting jobs that no registered server will run. */
  listOrphans(): Promise<Orphan[]>;
}
