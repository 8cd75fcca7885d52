import { parseTime, parseUuid } from '@longshore/edge';
import type { JobState } from '@longshore/jobs';
import {
  type BriefJob,
  bulkActions,
  type JobCount,
  type JobListQuery,
  jobStates,
  statesOfAction,
} from '@longshore/jobs/storage';
import type { CachedValue } from '../cache/cache.js';
import { badRequest, type Problem } from '../http/problem.js';
import { countSoon, findJobs, readWordSearch, searchHistory, wasSearched } from '../reading/job-search.js';
import {
  filterQuery,
  type Filters,
  jobsPath,
  pageOfTerm,
  queryFilters,
  type Reading,
} from '../search/filters.js';
import { zoneIn } from '../search/moment.js';
import { parseSearch, searchText } from '../search/search.js';
import type { Page, PageContext, PageRequest, Redirect } from '../shell/page.js';
import { failedPath, readFailed } from './failed-jobs.js';
import { breakdownLinks, breakdownRegion } from './job-breakdown.js';
import { jobLine, withCauses } from './job-row.js';
import { jobsToolbar, savedSearchesRegion, sum } from './jobs-toolbar.js';
import { logsPath } from './logs.js';
import { suggestSearches } from './search-suggestions.js';

const ROWS = 50;

interface Position {
  readonly order: 'newest' | 'oldest';
  readonly after: string | null;
  readonly before: string | null;
  /** When the job with the id `after` failed. Required for the next page of a list sorted by time of failure. */
  readonly failedAt: Date | null;
}

export async function jobsPage({ query }: PageRequest, context: PageContext): Promise<Page | Redirect> {
  const filters = queryFilters(query, context.redact);
  const searched = query.get('q');
  const answer = searched === null ? null : await answerSearch(searched, zoneIn(query), filters, context);
  if (answer !== null && 'redirect' in answer) return answer;
  const position = positionOf(query);
  const { order } = position;
  const by = query.get('by');
  const breakdown = by === null ? null : breakdownRegion(filters, by, context);
  const sorted = isByFailure(filters, position) ? 'latest failure first' : `${order} first`;
  const turn = { order, sorted, turned: jobsPath(filters, order === 'newest' ? { order: 'oldest' } : {}) };
  const breakingDown = {
    by: breakdown === null ? null : by,
    breakdowns: breakdownLinks(filters, by),
    fields: [...new URLSearchParams(jobsPath(filters).replace(/^jobs\??/, ''))],
  };
  return {
    title: 'Jobs',
    section: 'jobs',
    view: 'jobs',
    data: {
      search: searched ?? searchText(filters),
      invalidSearch: answer?.invalidSearch ?? null,
      state: filters.state,
      chips: chipsOf(filters),
      logs: logsPath(filters),
      exported: jobsPath(filters, order === 'oldest' ? { order } : {}).slice('jobs?'.length),
    },
    regions: [
      savedSearchesRegion(filters, context),
      ...(breakdown === null ? [] : [breakdown]),
      {
        name: 'tabs',
        view: 'jobs-tabs',
        everyMs: isNarrowed(filters) ? 5_000 : 2_000,
        load: async () => ({ ...(await loadTabs(filters, position, context)), ...turn, breakingDown }),
      },
      { name: 'list', view: 'jobs-list', everyMs: 5_000, load: () => loadList(filters, position, context) },
    ],
  };
}

async function answerSearch(
  text: string,
  zone: string,
  { state }: Filters,
  context: PageContext,
): Promise<Redirect | { invalidSearch: string }> {
  const search = parseSearch(text, zone);
  if (search.kind === 'id') return { redirect: await placeOf(search.id, context) };
  if (search.kind === 'misunderstood') return { invalidSearch: search.why };
  return { redirect: jobsPath({ ...search.filters, state: search.filters.state ?? state }) };
}

/**
 * Returns the path of the page about the job, batch, server or bulk operation with this id; a job takes precedence. For
 * an unknown id, returns the path of a job page; that page responds with 404.
 */
async function placeOf(id: string, { reader }: PageContext): Promise<string> {
  const [job, batch, servers, operation] = await Promise.all([
    reader.jobs.find(id),
    reader.batches.find(id),
    reader.servers.list(),
    reader.bulk.find(id),
  ]);
  if (job === null && batch !== null) return `batches/${id}`;
  if (job === null && servers.some((server) => server.id === id)) return `servers/${id}`;
  return job === null && operation !== null ? `bulk/${id}` : `jobs/${id}`;
}

/**
 * Loads the tabs with the number of jobs in each state. If there are filters besides the state, the jobs are counted
 * after the list has been read. Doing both at the same time would delay the list.
 */
async function loadTabs(filters: Filters, position: Position, context: PageContext): Promise<object> {
  const counting = isNarrowed(filters)
    ? await countNarrowed(filters, position, context)
    : { value: asExact(await context.reader.jobs.stateCounts()), asOf: null };
  const { value: counts, asOf = null } = counting ?? {};
  return {
    ...tabsOf(filters, counts ?? undefined),
    toolbar: jobsToolbar(filters, counts ?? undefined),
    asOf,
    partial: counting === undefined || asOf !== null,
    gaveUp: counts === null,
  };
}

async function countNarrowed(
  filters: Filters,
  position: Position,
  context: PageContext,
): Promise<CachedValue<Counts | null> | undefined> {
  const { reader, now, redact } = context;
  const reading = { nowMs: now(), redact };
  const list = listQuery(filters, position, reading);
  const { isComplete } = await reader.jobs.listBrief({ ...list, reach: 'near' });
  const inAnyState: Filters = { ...filters, state: null };
  const count = async (): Promise<Counts> => {
    if (!isComplete && !wasSearched(listKey(filters, position), context)) await searchHistory(list, reader);
    return reader.jobs.countByState(filterQuery(inAnyState, reading));
  };
  return countSoon(jobsPath(inAnyState), count, context);
}

function tabsOf(filters: Filters, counts?: Counts): { tabs: object[] } {
  const tab = (state: JobState | null, count?: JobCount) => ({
    state,
    count: count ?? null,
    path: jobsPath({ ...filters, state }),
    current: filters.state === state,
  });
  const stateTabs = jobStates.map((state) => tab(state, counts?.[state]));
  return { tabs: [tab(null, counts && sum(Object.values(counts))), ...stateTabs] };
}

/** Returns whether there is a filter besides the state. Without one, the counts are known without scanning jobs. */
function isNarrowed({ terms }: Filters): boolean {
  return terms.length > 0;
}

type Counts = Record<JobState, JobCount>;

function asExact(counts: Record<JobState, number>): Counts {
  return Object.fromEntries(
    jobStates.map((state) => [state, { count: counts[state], exact: true }]),
  ) as Counts;
}

function listKey(filters: Filters, { order, after, before }: Position): string {
  return jobsPath(filters, { order, after: after ?? '', before: before ?? '' });
}

function listQuery(filters: Filters, { order, after, before }: Position, reading: Reading): JobListQuery {
  const from = before ?? after;
  return {
    filter: filterQuery(filters, reading),
    order: before === null ? order : opposite(order),
    limit: ROWS + 1,
    ...(from === null ? {} : { after: from }),
  };
}

async function loadList(filters: Filters, position: Position, context: PageContext): Promise<object> {
  const { now, redact } = context;
  const { order, after, before } = position;
  const backwards = before !== null;
  if (isByFailure(filters, position)) return loadFailed(filters, position, context);
  const sought = {
    key: listKey(filters, position),
    query: listQuery(filters, position, { nowMs: now(), redact }),
    row: (job: BriefJob) => jobLine(job, redact),
  };
  const [{ jobs, partial, asOf, gaveUp }, words, paused] = await Promise.all([
    findJobs(sought, context),
    readWordSearch(sought.key, sought.query, filters, context),
    context.reader.jobTypes.listPaused(),
  ]);
  const pausedNames = new Set(paused.map(({ name }) => name));
  const more = jobs.length > ROWS;
  const shown = backwards ? jobs.slice(0, ROWS).toReversed() : jobs.slice(0, ROWS);
  const rows = await withCauses(shown, context);
  const hasPrevious = backwards ? more : after !== null;
  const hasNext = backwards ? true : more;
  const path = (change: Readonly<Record<string, string>>): string =>
    jobsPath(filters, { ...(order === 'oldest' ? { order } : {}), ...change });
  return {
    jobs: rows.map((row) => ({ ...row, typePaused: row.state === 'enqueued' && pausedNames.has(row.name) })),
    actions: bulkActions.filter((action) => rows.some(({ state }) => statesOfAction[action].includes(state))),
    order,
    words,
    further: !words?.lastId ? null : path({ after: words.lastId }),
    suggestions: rows.length === 0 ? await suggestSearches(filters, context) : [],
    filtered: filters.state !== null || isNarrowed(filters),
    wider: filters.state !== null && isNarrowed(filters) ? jobsPath({ ...filters, state: null }) : null,
    first: hasPrevious || backwards ? path({}) : null,
    previous: hasPrevious && rows[0] !== undefined ? path({ before: rows[0].id }) : null,
    next: hasNext && rows.at(-1) !== undefined ? path({ after: rows.at(-1)?.id ?? '' }) : null,
    partial: partial || words === null,
    asOf,
    gaveUp,
  };
}

/** Returns whether the list is sorted by time of failure. This is the default order of failed jobs. */
function isByFailure({ state }: Filters, { order, before }: Position): boolean {
  return state === 'failed' && order === 'newest' && before === null;
}

async function loadFailed(
  filters: Filters,
  { after: id, failedAt }: Position,
  context: PageContext,
): Promise<object> {
  if (id !== null && failedAt === null) throw noSuchPage('The time of failure is missing.');
  const after = id === null || failedAt === null ? null : { id, failedAt };
  const { jobs, hasNext, searched, partial } = await readFailed(filters, after, ROWS, context);
  const rows = jobs.map((job) => jobLine(job, context.redact));
  const { last } = searched;
  const lastRow = jobs.at(-1);
  return {
    jobs: rows,
    actions:
      rows.length === 0 ? [] : bulkActions.filter((action) => statesOfAction[action].includes('failed')),
    order: 'newest',
    words: { lastId: last?.id, back: last?.failedAt, jobs: searched.jobs },
    further: last === null ? null : failedPath(filters, last),
    suggestions: rows.length === 0 ? await suggestSearches(filters, context) : [],
    filtered: true,
    wider: isNarrowed(filters) ? jobsPath({ ...filters, state: null }) : null,
    first: after === null ? null : jobsPath(filters),
    previous: null,
    next:
      hasNext && lastRow?.finishedAt
        ? failedPath(filters, { id: lastRow.id, failedAt: lastRow.finishedAt })
        : null,
    partial,
    asOf: null,
    gaveUp: false,
  };
}

function opposite(order: Position['order']): Position['order'] {
  return order === 'newest' ? 'oldest' : 'newest';
}

function positionOf(query: URLSearchParams): Position {
  return {
    order: query.get('order') === 'oldest' ? 'oldest' : 'newest',
    after: idIn(query, 'after'),
    before: idIn(query, 'before'),
    failedAt: timeOf(query.get('failed')),
  };
}

function idIn(query: URLSearchParams, key: string): string | null {
  const text = query.get(key);
  const id = text === null ? null : parseUuid(text);
  if (id === undefined) throw noSuchPage(`“${text}” is not the id of a job.`);
  return id;
}

function timeOf(text: string | null): Date | null {
  if (text === null) return null;
  const time = parseTime(text);
  if (time === undefined) throw noSuchPage(`“${text}” is not a time.`);
  return time;
}

function noSuchPage(why: string): Problem {
  return badRequest('There is no such page of the list', why);
}

/**
 * Returns a chip for each filter. `without` is the path of the list without the filter. `page` is the path of the page
 * about the filter's value; `null` if there is none.
 */
function chipsOf(filters: Filters): { key: string; value: string; page: string | null; without: string }[] {
  const { terms } = filters;
  return terms.map((term) => ({
    ...term,
    key: term.key === 'q' ? 'contains' : term.key,
    page: pageOfTerm(term),
    without: jobsPath({ ...filters, terms: terms.filter((other) => other !== term) }),
  }));
}
