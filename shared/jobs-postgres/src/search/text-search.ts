import type { Job } from '@longshore/jobs';
import { allowedTypos, spellingsInSlices, wordsOf } from '@longshore/edge';
import type { JobSearchPage, JobSearchQuery } from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { listedRows, withDocuments } from '../jobs/job-documents.js';
import type { JobRow } from '../jobs/job-row.js';
import type { SearchScope } from './job-search.sql.js';
import { type FoundRow, searchTexts, textsToSearch } from './text-search.sql.js';

/** Searches jobs for words, tolerating typos (docs/adr/017). */
export class TextSearch {
  readonly #database: Database;
  readonly #searches: Database;
  readonly #scopeOf: (filter: JobSearchQuery['filter']) => Promise<SearchScope>;
  readonly #toJobs: (rows: readonly JobRow[]) => Promise<Job[]>;

  /** @param searches connections for queries of unpredictable cost */
  constructor(
    database: Database,
    searches: Database,
    scopeOf: (filter: JobSearchQuery['filter']) => Promise<SearchScope>,
    toJobs: (rows: readonly JobRow[]) => Promise<Job[]>,
  ) {
    this.#database = database;
    this.#searches = searches;
    this.#scopeOf = scopeOf;
    this.#toJobs = toJobs;
  }

  async page({
    filter,
    order = 'best',
    offset = 0,
    after,
    ...query
  }: JobSearchQuery): Promise<JobSearchPage> {
    const { limit, maxBytes, documents = true, signal } = query;
    const { q, ...others } = filter;
    const scope = await this.#scopeOf(others);
    const words = wordsOf(q);
    const spelt = await spellingsInSlices(
      words,
      words.some((word) => allowedTypos(word) > 0) ? await this.#texts(scope, signal) : [],
    );
    const search = searchTexts({ ...scope, words: spelt, order, limit, offset, after });
    const found =
      search === undefined ? [] : await this.#searches.query<FoundRow>(search, search.values, signal);
    const { total, partial } = found[0] ?? { total: 0, partial: false };
    const rows = await listedRows(this.#database, found, documents ? 'small' : 'none');
    const page = documents ? await withDocuments(this.#database, rows, maxBytes) : { rows, cut: false };
    return { jobs: await this.#toJobs(page.rows), cut: page.cut, total, partial };
  }

  async #texts(scope: SearchScope, signal: AbortSignal | undefined): Promise<string[]> {
    const query = textsToSearch(scope);
    if (query === undefined) return [];
    const rows = await this.#searches.query<{ text: string }>(query, query.values, signal);
    return rows.map(({ text }) => text);
  }
}
