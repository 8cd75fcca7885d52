import type { Job, JobState } from '@longshore/jobs';
import { allowedTypos, maxErrorText, type Spelling, spellingsInSlices, wordsOf } from '@longshore/edge';
import {
  type FinishedState,
  isFinished,
  type JobSearchPage,
  type JobSearchQuery,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { listedRows, withDocuments } from '../jobs/job-documents.js';
import type { JobRow } from '../jobs/job-row.js';
import {
  all,
  type JobSearch,
  occupiedStates,
  type Query,
  queryOf,
  searchOf,
  type SearchScope,
  united,
} from './job-search.sql.js';
import { messageOf, occursIn, searchedArgs, searchedText } from '../jobs/job-conditions.sql.js';
import { lastError, running } from '../jobs/job-columns.sql.js';
import { boundsOf, textRows } from './search-history.sql.js';
import type { Searches } from './replica-searches.js';
import { nearestRows, queuesOf, rowsOfQueue } from './search-stages.sql.js';

/** Searches jobs for words, tolerating typos (docs/adr/017). */
export class TextSearch {
  readonly #database: Database;
  readonly #searches: Searches;
  readonly #scopeOf: (filter: JobSearchQuery['filter']) => Promise<SearchScope>;
  readonly #toJobs: (rows: readonly JobRow[]) => Promise<Job[]>;

  /** @param searches connections for queries of unpredictable cost */
  constructor(
    database: Database,
    searches: Searches,
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
    const { q, ...exactFilter } = filter;
    const scope = await this.#scopeOf(exactFilter);
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

/**
 * Maximum number of distinct texts of each kind (`maxTexts`) and of distinct error messages (`maxErrors`) that are
 * searched for correct spellings. The most frequent texts are chosen.
 */
const maxTexts = 2_000;
const maxErrors = 500;

export interface TextSearchRequest extends SearchScope {
  readonly words: readonly (readonly Spelling[])[];
  readonly order: 'best' | 'newest' | 'oldest';
  readonly limit: number;
  readonly offset: number;
  readonly after: string | undefined;
}

/** A row of the page, with the totals of the search. An empty page has a single row, in which the ids are `null`. */
export interface FoundRow {
  readonly id: string | null;
  readonly queue_id: number | null;
  readonly total: number;
  readonly partial: boolean;
}

/**
 * Builds the query for a page of jobs that contain every word, among the newest jobs of each state. Returns `undefined`
 * if no state can have matching jobs.
 */
export function searchTexts(request: TextSearchRequest): Query | undefined {
  const { words, order, limit, offset, after } = request;
  const values: unknown[] = [];
  const search = newestOf(request, values);
  const states = occupiedStates(request);
  if (states.length === 0) return undefined;
  const { bind } = search;
  const occurring = (spellings: readonly Spelling[]): string => occursIn('searched.text', spellings, bind);
  const occurs = words.map(occurring);
  const typos = words.map((spellings) => {
    const counts = [...new Set(spellings.map((spelling) => spelling.typos))];
    const [last = 0, ...otherCounts] = counts.toReversed();
    const cases = otherCounts
      .toReversed()
      .map((count) => `when ${occurring(spellings.filter((one) => one.typos === count))} then ${count}`);
    return cases.length === 0 ? String(last) : `case ${cases.join(' ')} else ${last} end`;
  });
  const direction = order === 'oldest' ? 'asc' : 'desc';
  const sorted = order === 'best' ? `typos, id ${direction}` : `id ${direction}`;
  const beyond = after === undefined ? 'true' : `id ${order === 'oldest' ? '>' : '<'} ${bind(after)}::uuid`;
  return queryOf(
    `
    with found as materialized (
      select candidate.id, candidate.queue_id, ${typos.join(' + ') || '0'} as typos
      from (${united(states.map((state) => newest(state, search)))}) as candidate
      join longshore.queue on queue.id = candidate.queue_id
      cross join lateral (
        select ${searchedText('candidate.', 'candidate.error', {
          args: searchedArgs('candidate.args', request.filter.redact, bind),
          more: ['queue.name'],
        })} as text
        offset 0
      ) as searched
      where ${all(occurs)}
    )
    select page.id, page.queue_id, (select count(*)::integer from found) as total, ${isPartial(states, search)} as partial
    from (select 1) as one
    left join (
      select * from found where ${beyond} order by ${sorted} limit ${bind(limit)}::bigint offset ${bind(offset)}::bigint
    ) as page on true
    order by ${sorted}`,
    values,
  );
}

/**
 * Builds the query for texts that may contain the correct spelling of a word: the job names, queue names, recurring-job
 * ids, tags and error messages of the searched jobs. Returns `undefined` if no state can have matching jobs.
 */
export function textsToSearch(request: SearchScope): Query | undefined {
  const values: unknown[] = [];
  const search = newestOf(request, values);
  const states = occupiedStates(request);
  if (states.length === 0) return undefined;
  const frequent = 'order by count(*) desc, 1';
  return queryOf(
    `
    with candidate as materialized (
      select name, queue_id, meta -> 'tags' as tags, meta ->> 'recurringJobId' as recurring,
        left(${messageOf('error')}, ${maxErrorText}) as message
      from (${united(states.map((state) => newest(state, search)))}) as candidate
    )
    (select name as text from candidate group by 1 ${frequent} limit ${maxTexts})
    union all
    (select queue.name from candidate join longshore.queue on queue.id = queue_id group by 1 ${frequent} limit ${maxTexts})
    union all
    (
      select recurring from candidate where recurring is not null group by 1 ${frequent} limit ${maxTexts}
    )
    union all
    (
      select tag.text
      from candidate
      cross join lateral jsonb_array_elements_text(case jsonb_typeof(tags) when 'array' then tags end) as tag (text)
      group by 1 ${frequent} limit ${maxTexts}
    )
    union all
    (select message from candidate where message is not null group by 1 ${frequent} limit ${maxErrors})`,
    values,
  );
}

/**
 * Returns a search that covers the newest jobs, whatever the order of the list, so that every order lists the same
 * jobs.
 */
function newestOf(scope: SearchScope, values: unknown[]): JobSearch {
  return searchOf({ ...scope, newestFirst: true, limit: 0, offset: 0, after: undefined }, values);
}

const columns = 'id, queue_id, name, args, meta';

/**
 * Returns a query that reads the newest jobs of a state, up to {@link textRows} per table, and keeps those that match
 * the filter.
 */
function newest(state: JobState, search: JobSearch): string {
  if (isFinished(state)) return newestInHistory(state, search);
  const { conditions } = search;
  const matching = [...conditions.chosen, ...conditions.rows, ...conditions.error(lastError)];
  const parts = linesOf(state, search).map(
    (line) => `
      select ${columns}, ${lastError} as error
      from (${line}) as near
      where ${all([...matching, ...(state === 'processing' ? conditions.claimed : [])])}`,
  );
  return united(parts);
}

function newestInHistory(state: FinishedState, search: JobSearch): string {
  return `
      select ${columns}, error
      from (select * from longshore.job_history_${state} where ${all(boundsOf(search))} order by id desc limit ${textRows}) as near
      where ${all(search.ofHistory())}`;
}

/**
 * Returns SQL queries for the newest jobs of an unfinished state: one query for each table that can contain jobs in
 * this state.
 */
function linesOf(state: Exclude<JobState, FinishedState>, search: JobSearch): string[] {
  const { bind, holding, conditions, order, distribution } = search;
  const queues = `${bind(holding(state).ids)}::integer[]`;
  if (state === 'processing') {
    const wanted = all(conditions.ids);
    return [
      `select line.* from ${queuesOf[distribution](queues)}
       cross join lateral (select * from (${running[distribution]}) as running where ${wanted}) as line ${order} limit ${textRows}`,
    ];
  }
  const lines = { queues, order, distribution, ofQueue: rowsOfQueue(holding(state)) };
  const newestIn = (table: string, tableConditions: readonly string[] = []): string =>
    nearestRows(table, [...tableConditions, ...conditions.ids], lines);
  if (state === 'scheduled') return [newestIn('job_scheduled')];
  if (state === 'awaiting') return [newestIn('job_awaiting')];
  return [newestIn('job', ['server_id is null']), newestIn('job_blocked')];
}

/** Returns an SQL condition that is true if at least one state has more jobs than are searched. */
function isPartial(states: readonly JobState[], search: JobSearch): string {
  const live = states.filter((state) => !isFinished(state));
  const exceeds = live.some((state) => {
    const holding = search.holding(state);
    return state !== 'processing' && (holding.jobs > textRows || holding.most > rowsOfQueue(holding));
  });
  if (exceeds) return 'true';
  const parts = states.filter(isFinished).map((state) => {
    const within = all(boundsOf(search));
    return `(select count(*) from (select 1 from longshore.job_history_${state} where ${within} limit ${textRows + 1}) as seen) > ${textRows}`;
  });
  return parts.length === 0 ? 'false' : `(${parts.join(' or ')})`;
}
