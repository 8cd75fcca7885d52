import type { Attempt, Job, JobDocuments, StateCounts } from '../job/job.js';
import type { JobState } from '../job/state.js';
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
  /**
   * Skips the search of the nearest jobs, because `listNear` has already shown that there are more. `false` by
   * default.
   */
  readonly beyondNear?: boolean;
}

export interface JobPageQuery extends Omit<JobListQuery, 'beyondNear'> {
  /** `false` skips arguments and results; both are `null`. `true` by default. */
  readonly documents?: boolean;
  /** Maximum size of the page's arguments and results as JSON, in bytes. A page has at least one job. */
  readonly maxBytes: number;
}

export interface JobPage {
  readonly jobs: Job[];
  /** The page ended because of its size: there are more jobs. */
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
  /** `false` if there are more than were counted. */
  readonly exact: boolean;
}

/** The nearest jobs of a list. */
export interface NearJobs {
  readonly jobs: Job[];
  /** `false` if there may be more matches, possibly nearer than the last of these; `list` finds them. */
  readonly complete: boolean;
}

/** Reads jobs. Reads may lag slightly behind writes and never block them. */
export interface JobReader {
  /** Returns `null` if the job does not exist or the id is not a UUID. A caller's transaction sees its own writes. */
  find(id: string, transaction?: TransactionClient): Promise<Job | null>;
  /** Returns the arguments and the result exactly as stored; `null` if the job does not exist. */
  findDocuments(jobId: string): Promise<JobDocuments | null>;
  list(query: JobListQuery): Promise<Job[]>;
  /** Like {@link list}, but with bounded memory, whatever the size of the jobs. */
  listPage(query: JobPageQuery): Promise<JobPage>;
  /**
   * Like {@link list}, but searches only the first few thousand jobs of each state: fast, however many jobs exist and
   * however rare the matches.
   */
  listNear(query: JobListQuery): Promise<NearJobs>;
  /**
   * Finds the jobs in which every word of `q` occurs, and tolerates typos: a word also stands for words of names, queues, tags,
   * recurring jobs and errors that differ from it by one typo, or by two if it has eight letters or more. Words with digits or
   * fewer than four letters are taken literally. Takes a bounded time, however many jobs there are: a storage may search only
   * the newest jobs of each state.
   */
  search(query: JobSearchQuery): Promise<JobSearchPage>;
  /** Lists failed jobs by the time of their failure, latest first, regardless of creation time. */
  listLatestFailed(query: LatestFailedQuery): Promise<Job[]>;
  /** Counts without a scan if the filter has only states and queues; otherwise up to 10 000. */
  count(filter?: JobFilter): Promise<JobCount>;
  /** Counts each state separately, cheaper than one call per state. */
  countByState(filter?: JobFilter): Promise<Record<JobState, JobCount>>;
  /** Totals across all queues. */
  stateCounts(): Promise<StateCounts>;
  /** Oldest first; empty for a job that has not started or does not exist. */
  listAttempts(jobId: string): Promise<Attempt[]>;
  /** Lists the dependents of a job or batch, oldest first. Available for at least 30 days. */
  listContinuations(id: string, page?: ContinuationPage): Promise<Job[]>;
  /** Lists waiting jobs that no registered server will run. */
  listOrphans(): Promise<Orphan[]>;
}
