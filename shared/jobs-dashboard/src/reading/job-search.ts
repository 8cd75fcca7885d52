import { StorageUnavailableError } from '@longshore/jobs';
import {
  type BriefJob,
  type JobCount,
  type JobFilter,
  type JobListQuery,
  type SearchedRange,
  timeOfId,
} from '@longshore/jobs/storage';
import type { CachedValue } from '../cache/cache.js';
import type { Filters } from '../search/filters.js';
import type { DashboardReader, ReadingContext } from './dashboard-reader.js';

type Sources = Pick<ReadingContext, 'reader' | 'cache'>;

export interface FoundJobs<Row> {
  readonly jobs: Row[];
  /** Whether a search for more jobs is still running. */
  readonly partial: boolean;
  /** When the search behind `jobs` ran, if it is outdated and another search is running; `null` otherwise. */
  readonly asOf: Date | null;
  /** Whether the storage has given up searching for more jobs. */
  readonly gaveUp: boolean;
}

interface JobSearch<Row> {
  readonly key: string;
  readonly query: JobListQuery;
  readonly row: (job: BriefJob) => Row;
}

/**
 * Returns the matching jobs that a quick search near the start of the list finds. If there might be more, adds the jobs
 * from the latest search through all of history. That search runs in the background.
 */
export async function findJobs<Row extends { readonly id: string }>(
  { key, query, row }: JobSearch<Row>,
  { reader, cache }: Sources,
): Promise<FoundJobs<Row>> {
  const near = await reader.jobs.listBrief({ ...query, reach: 'near' });
  const jobs = near.jobs.map(row);
  if (near.isComplete) return { jobs, partial: false, asOf: null, gaveUp: false };
  const history = await cache.readSoon(listed(key), async () => {
    const matches = await searchHistory(query, reader);
    return matches?.map(row) ?? null;
  });
  const { value = null, asOf = null } = history ?? {};
  const partial = history === undefined || asOf !== null;
  if (value === null) return { jobs, partial, asOf: null, gaveUp: !partial };
  return { jobs: merged(jobs, value, query), partial, asOf, gaveUp: false };
}

/** Returns whether a search through all of history is running and no earlier search has a result. */
export function isFirstSearch({ partial, asOf }: Pick<FoundJobs<unknown>, 'partial' | 'asOf'>): boolean {
  return partial && asOf === null;
}

/** Returns whether the cache has a result of the search through all of history. */
export function wasSearched(key: string, { cache }: Pick<Sources, 'cache'>): boolean {
  return cache.knows(listed(key));
}

/**
 * Returns the latest known count, or `undefined` if there is none yet. `value` is `null` if the storage has given up
 * counting.
 */
export function countSoon<Count>(
  key: string,
  count: () => Promise<Count>,
  { cache }: Pick<Sources, 'cache'>,
): Promise<CachedValue<Count | null> | undefined> {
  return cache.readSoon(`count ${key}`, () => unlessGivenUp(count()));
}

/** Searches all of history for jobs. Returns `null` if the storage has given up. */
export async function searchHistory(
  query: JobListQuery,
  reader: Sources['reader'],
): Promise<BriefJob[] | null> {
  const page = await unlessGivenUp(reader.jobs.listBrief({ ...query, reach: 'history' }));
  return page?.jobs ?? null;
}

function listed(key: string): string {
  return `jobs ${key}`;
}

async function unlessGivenUp<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof StorageUnavailableError) return null;
    throw error;
  }
}

/** Merges the results of both searches. Near jobs take precedence, because they were read more recently. */
function merged<Row extends { readonly id: string }>(
  near: readonly Row[],
  history: readonly Row[],
  { order = 'newest', limit }: JobListQuery,
): Row[] {
  const byId = new Map([...history, ...near].map((job) => [job.id, job]));
  const direction = order === 'newest' ? -1 : 1;
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -direction : direction)).slice(0, limit);
}

/** How far a word search got in a list of jobs. */
interface WordSearch {
  /**
   * The job up to which the search is complete in every finished state. The search can continue after this job. `null`
   * if all finished jobs have been searched, or if the search contains no words.
   */
  readonly lastId: string | null;
  /** When the job `lastId` was created; `null` if unknown. */
  readonly back: Date | null;
  /** Whether the search stopped before it had read every unfinished job. */
  readonly someUnfinished: boolean;
}

const whole: WordSearch = { lastId: null, back: null, someUnfinished: false };

/** Returns how far the word search got in a list of jobs; `null` if this is not known yet. */
export async function readWordSearch(
  key: string,
  { filter = {}, order = 'newest', after }: JobListQuery,
  { terms }: Filters,
  { reader, cache }: Pick<ReadingContext, 'reader' | 'cache'>,
): Promise<WordSearch | null> {
  if (!terms.some((term) => term.key === 'q')) return whole;
  const position = after === undefined ? {} : { after };
  const range = await cache.readSoon(`words ${key}`, () =>
    reader.jobs.searchedRange({ filter, order, ...position }),
  );
  if (range === undefined) return null;
  const lastId = lastSearched(range.value, order);
  const back = lastId === null ? null : (timeOfId(lastId) ?? null);
  return { lastId, back, someUnfinished: range.value.unfinished.length > 0 };
}

/**
 * Returns the id of the job up to which the word search is complete in every finished state; `null` if all finished
 * jobs have been searched.
 */
export function lastSearched({ lastIds }: SearchedRange, order: 'newest' | 'oldest'): string | null {
  const ids = Object.values(lastIds).toSorted();
  return (order === 'newest' ? ids.at(-1) : ids[0]) ?? null;
}

/** Maximum number of jobs to examine. Low, because jobs are read with their arguments. */
const EXAMINED = 100;

/**
 * Returns the jobs that have been running for longest, longest first. Examines only the 100 jobs that were created first,
 * because storages list jobs in order of creation. With more jobs, the result is approximate: a job that was scheduled or
 * retried can start after jobs that were created later.
 */
export async function listLongestRunning(
  filter: Pick<JobFilter, 'queue' | 'name'>,
  limit: number,
  reader: Pick<DashboardReader, 'jobs'>,
): Promise<BriefJob[]> {
  return (await examine('processing', filter, reader)).slice(0, limit);
}

/** A job that waits, on behalf of those with the same concurrency key that have waited less. */
export interface WaitingJob {
  readonly job: BriefJob;
  /** How many other jobs have the same concurrency key. */
  readonly others: JobCount;
}

/**
 * Returns the jobs that have been waiting for longest, longest first. Of the jobs of a queue with the same concurrency key,
 * returns only the first, because the others wait for it. Examines as many jobs as {@link listLongestRunning}.
 */
export async function listLongestWaiting(
  filter: Pick<JobFilter, 'queue' | 'name'>,
  limit: number,
  reader: Pick<DashboardReader, 'jobs'>,
): Promise<WaitingJob[]> {
  const examined = await examine('enqueued', filter, reader);
  const exact = examined.length < EXAMINED;
  const groups = new Map<string, BriefJob[]>();
  for (const job of examined) {
    const { id, queue, concurrencyKey } = job;
    const group = JSON.stringify(concurrencyKey === null ? [id] : [queue, concurrencyKey]);
    groups.set(group, [...(groups.get(group) ?? []), job]);
  }
  return [...groups.values()]
    .slice(0, limit)
    .flatMap(([job, ...others]) =>
      job === undefined ? [] : [{ job, others: { count: others.length, exact } }],
    );
}

async function examine(
  state: 'processing' | 'enqueued',
  filter: Pick<JobFilter, 'queue' | 'name'>,
  { jobs }: Pick<DashboardReader, 'jobs'>,
): Promise<BriefJob[]> {
  const query = { filter: { ...filter, state: [state] }, order: 'oldest', limit: EXAMINED } as const;
  const examined = (await jobs.listBrief({ ...query, reach: 'near' })).jobs;
  const since = ({ startedAt, readyAt, createdAt }: BriefJob): number =>
    (startedAt ?? readyAt ?? createdAt).getTime();
  return examined.toSorted((one, other) => since(one) - since(other));
}
