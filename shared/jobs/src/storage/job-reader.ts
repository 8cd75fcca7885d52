import type { Attempt, Job, JobDocuments, Server, StateCounts } from '../job/job.js';
import type { FinishedState, JobState } from '../job/state.js';
import type { JobFilter, JobOrder, JobPlace } from './job-filter.js';
import type { TransactionClient } from './transaction.js';

export interface JobListQuery {
  readonly filter?: JobFilter;
  /** Order by creation time: `newest` first, which is the default, or `oldest` first. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Number of jobs to skip; 0 by default. */
  readonly offset?: number;
  /** Only jobs that follow the job with this id in the chosen order. Later pages cost no more than the first. */
  readonly after?: string;
}

/**
 * How many jobs are examined to find matches:
 *
 * - `near`: the first few thousand of each state; fast for any number of jobs
 * - `history`: all jobs; for callers that have already tried `near` and found too few matches
 * - `all`: first the same jobs as `near`; if they contain too few matches, all jobs
 *
 * Even with `history` or `all`, a search for the words of `filter.q` may examine only some jobs (see
 * {@link JobReader.searchedRange}).
 */
export type SearchReach = 'near' | 'history' | 'all';

export interface BriefListQuery extends JobListQuery {
  /** `all` by default. */
  readonly reach?: SearchReach;
}

/** Maximum size of a job's arguments in a {@link BriefList}, in bytes of JSON. Larger arguments are left out. */
export const maxBriefBytes = 8_000;

/** A job in a {@link BriefList}. `result` is always `null`. */
export interface BriefJob extends Job {
  /** Whether `args` is `null` because the arguments are larger than {@link maxBriefBytes}. */
  readonly argsOmitted: boolean;
  /** The latest attempt that failed or was lost, also if the job was retried since; `null` if there is none. */
  readonly lastFailure: LastFailure | null;
}

export interface LastFailure {
  /** The server that ran the attempt. */
  readonly serverId: string;
  readonly at: Date;
}

/** @param attempts oldest first */
export function lastFailureIn(attempts: readonly Attempt[]): LastFailure | null {
  const failed = attempts.findLast(({ outcome }) => outcome === 'failed' || outcome === 'lost');
  return failed === undefined || failed.finishedAt === null
    ? null
    : { serverId: failed.serverId, at: failed.finishedAt };
}

export interface BriefList {
  readonly jobs: BriefJob[];
  /**
   * `false` if matching jobs may be missing, even between jobs in the list. To find them, use the reach `history` or
   * `all`.
   */
  readonly isComplete: boolean;
}

export interface JobPageQuery extends JobListQuery {
  /** Whether to include arguments and results; if `false`, both are `null`. `true` by default. */
  readonly documents?: boolean;
  /**
   * Maximum total size of the arguments and results on the page, in bytes of JSON. The first job is returned even if it
   * exceeds this limit on its own.
   */
  readonly maxBytes: number;
  /**
   * Ends the read when aborted, because nobody waits for the page any more; the call then rejects with the signal's reason.
   * A storage may finish a short read.
   */
  readonly signal?: AbortSignal;
}

export interface JobPage {
  readonly jobs: Job[];
  /** Whether the page ends early because of `maxBytes`; if so, more jobs follow. */
  readonly cut: boolean;
}

/** A page of a list in any order. */
export interface SortedJobsQuery extends Omit<JobPageQuery, 'order' | 'after'> {
  readonly order: JobOrder;
  /** Whether to list the jobs from the last to the first, in the exact opposite of the order. `false` by default. */
  readonly reversed?: boolean;
  /** Only jobs that follow this place, or precede it if the list is reversed. */
  readonly after?: JobPlace;
}

export interface SortedJobsPage extends JobPage {
  /**
   * Whether more jobs match than the storage compares, so that jobs may be missing, even between those on the page. The
   * Postgres storage compares {@link maxSorted} jobs of each state, unless an index has the order: it sorts finished jobs by
   * `finishedAt` and scheduled jobs by `runAt`, however many there are.
   */
  readonly partial: boolean;
}

/** A search for the words of `filter.q`. */
export interface JobSearchQuery extends Omit<JobPageQuery, 'order'> {
  readonly filter: JobFilter;
  /**
   * Sort order. `best`, the default, lists the matches with the fewest typos first, and newer jobs first among matches
   * with the same number of typos. With `after`, use `newest` or `oldest`.
   */
  readonly order?: 'best' | 'newest' | 'oldest';
}

export interface JobSearchPage extends JobPage {
  /** Total number of matches among the searched jobs, on all pages. */
  readonly total: number;
  /** Whether only the newest jobs of some states were searched, so that older matches may be missing. */
  readonly partial: boolean;
}

/** A job or batch, and the ids of its oldest dependents. */
export interface Dependents {
  readonly parentId: string;
  readonly ids: readonly string[];
}

export interface ContinuationPage {
  /** 100 by default. */
  readonly limit?: number;
  /** Only jobs created after the job with this id. */
  readonly after?: string;
  /** Whether to include arguments and results, as in {@link JobPageQuery}. `true` by default. */
  readonly documents?: boolean;
}

export interface FindManyOptions {
  /** Whether to include the results; if `false`, they are `null`. `false` by default. */
  readonly results?: boolean;
}

export interface SearchedRangeQuery extends Pick<JobListQuery, 'order' | 'after'> {
  readonly filter: JobFilter;
}

/**
 * How far a search for a filter's words goes. Both members are empty if the search examines all jobs, or if the filter
 * contains no words.
 */
export interface SearchedRange {
  /** For each finished state that is searched only in part: the id of the last job searched, in list order. */
  readonly lastIds: Readonly<Partial<Record<FinishedState, string>>>;
  /** The unfinished states that are searched only in part. */
  readonly unfinished: readonly JobState[];
}

/**
 * A position in a list sorted by time of failure, identified by a failed job. The position remains valid even if the
 * job is retried or deleted.
 */
export interface FailurePosition {
  readonly id: string;
  readonly failedAt: Date;
}

export interface LatestFailedQuery {
  readonly queue?: string;
  /**
   * Only jobs that follow this position. If the job at the position has been retried or deleted, jobs that failed in
   * the same millisecond may be repeated.
   */
  readonly after?: FailurePosition;
  readonly limit: number;
}

export interface FailureSearchQuery {
  /** Conditions on the jobs. `state` is ignored, because only failed jobs are searched. */
  readonly filter: JobFilter;
  /** Only jobs that follow this position, as in {@link LatestFailedQuery}. */
  readonly after?: FailurePosition;
  readonly limit: number;
  /** Maximum number of failed jobs to examine. */
  readonly maxExamined: number;
}

export interface FoundFailures {
  readonly jobs: BriefJob[];
  /**
   * The last job examined, if the search stopped because of `maxExamined`; further jobs may match. Otherwise `null`.
   */
  readonly last: FailurePosition | null;
}

export interface JobCount {
  readonly count: number;
  /** `false` if `count` is only a lower bound. */
  readonly exact: boolean;
}

/** Reads jobs. Reads never block writes, and may return data that is slightly out of date. */
export interface JobReader {
  /**
   * Returns a job; `null` if it does not exist or the id is not a UUID.
   *
   * @param transaction the caller's transaction; its uncommitted changes are visible
   */
  find(id: string, transaction?: TransactionClient): Promise<Job | null>;
  /**
   * Returns the jobs with these ids, in no particular order and without arguments. Ignores ids that are not UUIDs or belong
   * to no job.
   */
  findMany(ids: readonly string[], options?: FindManyOptions): Promise<Job[]>;
  /** Returns a job's arguments and result exactly as stored; `null` if the job does not exist. */
  findDocuments(jobId: string): Promise<JobDocuments | null>;
  list(query: JobListQuery): Promise<Job[]>;
  /** Like {@link list}, but limits the total size of arguments and results, so that a page fits into memory. */
  listPage(query: JobPageQuery): Promise<JobPage>;
  /** Like {@link listPage}, in any order. A filter with words examines the same jobs as {@link list}. */
  listSorted(query: SortedJobsQuery): Promise<SortedJobsPage>;
  /** Like {@link list}, but omits results and large arguments. For display. */
  listBrief(query: BriefListQuery): Promise<BriefList>;
  /**
   * Finds the jobs that contain every word of `q`. Tolerates typos: a search word also matches similar words in names,
   * queues, tags, recurring job ids and the beginning of errors. Similar words differ by at most one typo, or by two if
   * the search word has at least eight characters.
   *
   * Some search words are taken literally: those that contain digits, and those with fewer than four or more than 100
   * characters. An implementation may search only the newest jobs of each state.
   */
  search(query: JobSearchQuery): Promise<JobSearchPage>;
  /**
   * Lists failed jobs, latest failure first, regardless of when they were created. Like {@link listBrief}, omits
   * results and large arguments.
   */
  listLatestFailed(query: LatestFailedQuery): Promise<BriefJob[]>;
  /** Finds failed jobs that match a filter, latest failure first. May stop after examining `maxExamined` failures. */
  searchFailed(query: FailureSearchQuery): Promise<FoundFailures>;
  /** Returns which jobs {@link list} would search for the filter's words, given the same filter, order and `after`. */
  searchedRange(query: SearchedRangeQuery): Promise<SearchedRange>;
  /**
   * Counts the jobs that match a filter; all by default. If the filter contains only states and queues, the count is
   * exact. Otherwise, counting may stop at 10,000, or examine only some of the jobs for the filter's words. The count
   * is then a lower bound.
   *
   * @param signal ends the read when aborted, like {@link JobPageQuery.signal}
   */
  count(filter?: JobFilter, signal?: AbortSignal): Promise<JobCount>;
  /** Like {@link count}, but returns one count per state. Cheaper than a call for each state. */
  countByState(filter?: JobFilter): Promise<Record<JobState, JobCount>>;
  /** Returns the number of jobs in each state, across all queues. */
  stateCounts(): Promise<StateCounts>;
  /**
   * Lists a job's first attempt and its newest, at most {@link maxKeptAttempts}, oldest first; empty if the job has not started or does
   * not exist.
   */
  listAttempts(jobId: string): Promise<Attempt[]>;
  /** Lists the dependents of a job or batch, oldest first. Dependencies are kept for at least 30 days. */
  listContinuations(id: string, page?: ContinuationPage): Promise<Job[]>;
  /**
   * Lists the ids of the oldest dependents of several jobs or batches, at most `limit` for each. Omits jobs and batches
   * without dependents. Listed dependents may have been deleted.
   */
  listDependents(ids: readonly string[], limit: number): Promise<Dependents[]>;
  /**
   * Counts the dependents that would be restored by retrying jobs with {@link RetryOptions.dependents}. May stop at
   * 1000.
   *
   * @param ids the ids of the jobs to retry, and of their batches
   */
  countSkipped(ids: readonly string[]): Promise<JobCount>;
  /** Finds waiting jobs that no registered server can run, grouped by queue and name. */
  listOrphans(): Promise<Orphan[]>;
}

/** A group of waiting jobs with the same name, in the same queue, that no server can run. */
export interface Orphan {
  readonly queue: string;
  readonly name: string;
  /**
   * Number of jobs in the group; a lower bound if the storage has more waiting jobs than it examines (see
   * {@link maxExamined}).
   */
  readonly jobs: number;
  /**
   * `no-server`: no server consumes the queue. `no-handler`: no server that consumes the queue has a handler for the
   * name.
   */
  readonly reason: 'no-server' | 'no-handler';
}

/** Maximum number of waiting jobs to examine per state when searching for orphans. */
export const maxExamined = 5_000;

/** Returns the groups of waiting jobs that none of these servers can run, largest first. */
export function findOrphans(
  waiting: readonly Omit<Orphan, 'reason'>[],
  servers: readonly Pick<Server, 'queues' | 'jobNames'>[],
): Orphan[] {
  return waiting
    .flatMap((group): Orphan[] => {
      const serving = servers.filter(({ queues }) => queues.includes(group.queue));
      if (serving.length === 0) return [{ ...group, reason: 'no-server' }];
      // A server that did not register its handlers may handle any name.
      const handled = serving.some(({ jobNames }) => jobNames === null || jobNames.includes(group.name));
      return handled ? [] : [{ ...group, reason: 'no-handler' }];
    })
    .toSorted((one, other) => other.jobs - one.jobs);
}
