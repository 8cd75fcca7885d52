import type { Job } from '@longshore/jobs';
import {
  isId,
  type JobFilter,
  type JobOrder,
  type JobOrderMember,
  type JobPlace,
  type SortedJobsPage,
  type SortedJobsQuery,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { listedRows, withDocuments } from '../jobs/job-documents.js';
import type { JobRow } from '../jobs/job-row.js';
import type { Searches } from '../search/replica-searches.js';
import type { SearchScope } from '../search/job-search.sql.js';
import type { LocationCache } from '../jobs/location-cache.js';
import { selectTimes, sortedJobs, type SortedRow } from './sorted-jobs.sql.js';

/** The columns of a job's times: as dates to the millisecond, and as text with all their digits. */
type TimesRow = Readonly<
  Record<'run_at' | 'started_at' | 'finished_at', Date | null> &
    Record<'run_at_text' | 'started_at_text' | 'finished_at_text', string | null>
>;

const times: Readonly<Partial<Record<JobOrderMember, 'run_at' | 'started_at' | 'finished_at'>>> = {
  runAt: 'run_at',
  startedAt: 'started_at',
  finishedAt: 'finished_at',
};

/** Lists jobs in orders other than that of creation. */
export class SortedJobs {
  readonly #database: Database;
  readonly #searches: Searches;
  readonly #locator: LocationCache;
  readonly #scopeOf: (filter: JobFilter) => Promise<SearchScope>;
  readonly #toJobs: (rows: readonly JobRow[]) => Promise<Job[]>;

  /** @param searches connections for queries of unpredictable cost */
  constructor(
    { database, searches }: { readonly database: Database; readonly searches: Searches },
    locator: LocationCache,
    scopeOf: (filter: JobFilter) => Promise<SearchScope>,
    toJobs: (rows: readonly JobRow[]) => Promise<Job[]>,
  ) {
    this.#database = database;
    this.#searches = searches;
    this.#locator = locator;
    this.#scopeOf = scopeOf;
    this.#toJobs = toJobs;
  }

  async page({
    filter = {},
    after,
    documents = true,
    maxBytes,
    ...query
  }: SortedJobsQuery): Promise<SortedJobsPage> {
    const { order, reversed = false, limit, offset = 0, signal } = query;
    const place = after && (await this.#exactPlace(after, order, reversed));
    const scope = await this.#scopeOf(filter);
    const sorted = sortedJobs({ ...scope, order, reversed, limit, offset, after: place });
    if (sorted === undefined) return { jobs: [], cut: false, partial: false };
    const found = await this.#searches.query<SortedRow>(sorted, sorted.values, signal);
    const rows = await listedRows(this.#database, found, documents ? 'small' : 'none');
    const page = documents ? await withDocuments(this.#database, rows, maxBytes) : { rows, cut: false };
    return { jobs: await this.#toJobs(page.rows), cut: page.cut, partial: found[0]?.partial ?? false };
  }

  /**
   * Returns a place with the times as they are stored, to the microsecond. If the job's time has changed since, the list
   * continues at the beginning of the millisecond, in its direction.
   */
  async #exactPlace(
    place: JobPlace,
    order: JobOrder,
    reversed: boolean,
  ): Promise<readonly (string | number | null)[]> {
    const id = place[order.findIndex(({ by }) => by === 'id')];
    const row =
      typeof id === 'string' && isId(id) && place.some((value) => value instanceof Date)
        ? await this.#locator.find<TimesRow & { queue_id: number }>(selectTimes, id)
        : undefined;
    return place.map((value, index) => {
      if (!(value instanceof Date)) return value;
      const { by = 'id', descending = false } = order[index] ?? {};
      const column = times[by];
      const stored = column === undefined ? null : (row?.[column] ?? null);
      if (stored !== null && column !== undefined && stored.getTime() === value.getTime())
        return row?.[`${column}_text`] ?? null;
      return new Date(value.getTime() + (descending === reversed ? 0 : 1)).toISOString();
    });
  }
}
