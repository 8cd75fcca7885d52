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
  /** `listNear` has found more than the nearest jobs, which are not read again first. `false` by default. */
  readonly beyondNear?: boolean;
}

export interface JobPageQuery extends Omit<JobListQuery, 'beyondNear'> {
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

/** A search for the words of `filter.q`. */
export interface JobSearchQuery extends Omit<JobPageQuery, 'order'> {
  readonly filter: JobFilter;
  /** `best` by default: fewest typos first, then newest. `after` requires one of the others. */
  readonly order?: 'best' | 'newest' | 'oldest';
}

export interface JobSearchPage extends JobPage {
  /** The number of matches in all, among the jobs that were searched. */
  readonly total: number;
  /** Whether only the newest jobs of some state were searched, so that older ones may match, too. */
  readonly partial: boolean;
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

/** The nearest jobs of a list. */
export interface NearJobs {
  readonly jobs: Job[];
  /** `false`: there may be more matches, some of them nearer than the last of these; `list` finds them. */
  readonly complete: boolean;
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
  /**
   * As {@link list}, but among the first few thousand jobs of each state only: fast, however many jobs there are and however
   * rare the matches.
   */
  listNear(query: JobListQuery): Promise<NearJobs>;
  /**
   * Finds the jobs in which every word of `q` occurs, and tolerates typos: a word also stands for words of names, queues, tags,
   * recurring jobs and errors that differ from it by one typo, or by two if it has eight letters or more. Words with digits or
   * fewer than four letters are taken literally. Takes a bounded time, however many jobs there are: a storage may search only
   * the newest jobs of each state.
   */
  search(query: JobSearchQuery): Promise<JobSearchPage>;
  /** Failed jobs by the time at which they failed, latest first, whenever they were created. */
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
