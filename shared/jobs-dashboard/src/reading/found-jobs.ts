import { StorageUnavailableError } from '@longshore/jobs';
import type { BriefJob, JobListQuery } from '@longshore/jobs/storage';
import type { ReadingContext } from './dashboard-reader.js';
import type { Known } from '../cache/cache.js';

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

export interface JobSearch<Row> {
  /** The key of the list in the cache. */
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
  const known = await cache.readSoon(listed(key), async () => {
    const all = await searchHistory(query, reader);
    return all?.map(row) ?? null;
  });
  const { value = null, asOf = null } = known ?? {};
  const partial = known === undefined || asOf !== null;
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
): Promise<Known<Count | null> | undefined> {
  return cache.readSoon(`count ${key}`, () => unlessGivenUp(count()));
}

/** Searches all of history for jobs. Returns `null` if the storage has given up. */
export async function searchHistory(
  query: JobListQuery,
  reader: Sources['reader'],
): Promise<BriefJob[] | null> {
  const found = await unlessGivenUp(reader.jobs.listBrief({ ...query, reach: 'history' }));
  return found?.jobs ?? null;
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
  found: readonly Row[],
  { order = 'newest', limit }: JobListQuery,
): Row[] {
  const byId = new Map([...found, ...near].map((job) => [job.id, job]));
  const direction = order === 'newest' ? -1 : 1;
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -direction : direction)).slice(0, limit);
}
