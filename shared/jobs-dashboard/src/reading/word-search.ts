import { type JobListQuery, type SearchedRange, timeOfId } from '@longshore/jobs/storage';
import type { Filters } from '../search/filters.js';
import type { ReadingContext } from './dashboard-reader.js';

/** How far a word search got in a list of jobs. */
export interface WordSearch {
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
  const place = after === undefined ? {} : { after };
  const known = await cache.readSoon(`words ${key}`, () =>
    reader.jobs.searchedRange({ filter, order, ...place }),
  );
  if (known === undefined) return null;
  const lastId = lastSearched(known.value, order);
  const back = lastId === null ? null : (timeOfId(lastId) ?? null);
  return { lastId, back, someUnfinished: known.value.unfinished.length > 0 };
}

/**
 * Returns the id of the job up to which the word search is complete in every finished state; `null` if all finished
 * jobs have been searched.
 */
export function lastSearched({ lastIds }: SearchedRange, order: 'newest' | 'oldest'): string | null {
  const ids = Object.values(lastIds).toSorted();
  return (order === 'newest' ? ids.at(-1) : ids[0]) ?? null;
}
