import { sortCollation } from '@longshore/edge';
import type { JobState } from '@longshore/jobs';
import {
  type FinishedState,
  isFinished,
  type JobOrder,
  type JobOrderMember,
  type JobOrderTerm,
  maxSorted,
} from '@longshore/jobs/storage';
import { prepared } from '../connection/statement.js';
import { jobsWhere, jobWithId, withId } from '../jobs/find-jobs.sql.js';
import type { Bind } from '../jobs/job-conditions.sql.js';
import {
  columnsIn,
  finishedAs,
  lastError,
  type LiveTable,
  ready,
  stateIn,
  waiting,
} from '../jobs/job-columns.sql.js';
import {
  all,
  isText,
  type JobSearch,
  occupiedStates,
  type Query,
  queryOf,
  searchOf,
  type SearchScope,
  united,
} from '../search/job-search.sql.js';
import { boundsOf, fenced, firstRows, searchHistory, startOfDay } from '../search/search-history.sql.js';
import { eachQueue, searchUnfinished } from '../search/search-stages.sql.js';

export interface SortedRequest extends SearchScope {
  readonly order: JobOrder;
  readonly reversed: boolean;
  readonly limit: number;
  readonly offset: number;
  /** The values of the job to continue after, one for each term of the order; times with all their digits. */
  readonly after: readonly (string | number | null)[] | undefined;
}

/** A job of the page. */
export interface SortedRow {
  readonly id: string;
  readonly queue_id: number;
  readonly partial: boolean;
}

/** The column of each member of an order in the parts of the search, and its type. */
const columns: Readonly<Record<JobOrderMember, readonly [column: string, type: string]>> = {
  id: ['id', 'uuid'],
  finishedAt: ['finished_at', 'timestamptz'],
  startedAt: ['started_at', 'timestamptz'],
  runAt: ['run_at', 'timestamptz'],
  priority: ['priority', 'bigint'],
  concurrencyKey: [`concurrency_key collate ${sortCollation}`, 'text'],
};

/** The states in which no job has a value of a member. */
const withoutValue: Readonly<Partial<Record<JobOrderMember, readonly JobState[]>>> = {
  finishedAt: ['scheduled', 'awaiting', 'enqueued', 'processing'],
  startedAt: ['scheduled', 'awaiting', 'enqueued'],
};

/**
 * $1 id, $2 queue, or null if unknown. Returns the times of a job, and their text, which has all their digits.
 */
export const selectTimes = prepared(
  'longshore-select-job-times',
  timesIn(jobWithId('$1', '$2::integer')),
  timesIn(jobsWhere(withId)),
);

/** Returns the query for the times of the job that a subquery finds. */
function timesIn(found: string): string {
  return `
    select queue_id, run_at, started_at, finished_at, run_at::text as run_at_text, started_at::text as started_at_text,
      finished_at::text as finished_at_text
    from (${found}) as found limit 1`;
}

/**
 * Builds the query for a page of jobs in an order other than that of creation; `undefined` if no state can have matching
 * jobs. Finished jobs by `finishedAt`, and scheduled ones by `runAt`, are read in this order. Of every other state, the
 * newest {@link maxSorted} matching jobs are read and sorted; if there are more, `partial` is true.
 */
export function sortedJobs(request: SortedRequest): Query | undefined {
  const { order, reversed, limit, offset, after } = request;
  const values: unknown[] = [];
  const newest = { ...request, newestFirst: true, limit: maxSorted + 1, offset: 0, after: undefined };
  const search = searchOf(newest, values);
  const { bind } = search;
  const beyond = after === undefined ? [] : [beyondPlace(order, after, reversed, bind)];
  const scan: Scan = { search, request, beyond, page: `${bind(limit + offset)}::bigint` };
  const parts = occupiedStates(request).map((state) => partOf(state, scan));
  if (parts.length === 0) return undefined;
  const lead = columns[order[0]?.by ?? 'id'][0];
  const isOver = ({ state }: Part): string =>
    `((select count(*) from of_${state}) > ${maxSorted} or exists (
      select 1 from of_${state} group by queue_id having count(*) >= ${shareOf(search, state)}
    ))`;
  const overflows = [
    ...parts.filter(({ isExact, isEmpty }) => !isExact && !isEmpty).map(isOver),
    ...parts
      .filter(({ isEmpty }) => isEmpty)
      .map((part) => `(${isOver(part)} and exists (select 1 from page where ${lead} is null))`),
  ];
  const text = `
    with ${parts
      .map(
        ({ state, sql }) => `of_${state} as materialized (
      select id, queue_id, finished_at, started_at, run_at, priority, meta ->> 'concurrencyKey' as concurrency_key
      from (${sql}) as part
    ),`,
      )
      .join('\n    ')}
    page as materialized (
      select * from (${united(parts.map(({ state }) => `select * from of_${state}`))}) as candidate
      where ${all(beyond)} ${orderBy(order, reversed)} limit ${bind(limit)}::bigint offset ${bind(offset)}::bigint
    )
    select id, queue_id, ${overflows.length === 0 ? 'false' : overflows.join(' or ')} as partial
    from page ${orderBy(order, reversed)}`;
  return queryOf(text, values);
}

interface Scan {
  readonly search: JobSearch;
  readonly request: SortedRequest;
  /** The condition for the jobs beyond the place to continue after; none for the start of the list. */
  readonly beyond: readonly string[];
  /** SQL expression for the number of jobs up to the end of the page. */
  readonly page: string;
}

interface Part {
  readonly state: JobState;
  readonly sql: string;
  /** Whether the part has every job of the state that can be on the page. */
  readonly isExact: boolean;
  /** Whether no job of the state has a value of the first term, so that they come last. */
  readonly isEmpty: boolean;
}

function partOf(state: JobState, scan: Scan): Part {
  const { search, request } = scan;
  const lead = request.order[0]?.by ?? 'id';
  const isEmpty = withoutValue[lead]?.includes(state) ?? false;
  const isIndexed = request.order.length === 2 && !isText(request.filter);
  if (isFinished(state)) {
    const isExact = isIndexed && lead === 'finishedAt';
    return { state, sql: isExact ? byFinish(state, scan) : searchHistory(state, search), isExact, isEmpty };
  }
  if (isIndexed && lead === 'runAt' && state === 'scheduled')
    return { state, sql: byDueTime(scan), isExact: true, isEmpty };
  if (isIndexed && isEmpty) return { state, sql: byCreation(state, scan), isExact: true, isEmpty };
  return { state, sql: newestOf(state, scan), isExact: false, isEmpty };
}

/** Builds the search for jobs of a state in which none has a value of the first term: they are sorted by id alone. */
function byCreation(state: UnfinishedState, { search, request, page }: Scan): string {
  const { order, reversed, after } = request;
  const isDown = (order[1]?.descending ?? false) !== reversed;
  const [value, id] = after ?? [];
  const isOver = after !== undefined && value !== null && reversed; // the jobs without a value come first
  const bounds = value === null ? [`id ${isDown ? '<' : '>'} ${search.bind(id)}::uuid`] : [];
  return searchUnfinished(state, {
    ...search,
    newestFirst: isDown,
    order: `order by id ${isDown ? 'desc' : 'asc'}`,
    limit: page,
    after: isOver ? ['false'] : bounds,
  });
}

/** Builds the search for the newest matching jobs of an unfinished state. Reads a share of them from each queue. */
function newestOf(state: UnfinishedState, { search }: Scan): string {
  const { conditions, holding, bind, order } = search;
  if (state === 'processing' || isText(search.filter)) return searchUnfinished(state, search);
  const share = shareOf(search, state);
  const contents = [
    ...conditions.chosen,
    ...conditions.ids,
    ...conditions.rows,
    ...conditions.error(lastError),
  ];
  const queues = `${bind(holding(state).ids)}::integer[]`;
  const read = (table: LiveTable, tableConditions: readonly string[]): string => {
    const wanted = all(['queue_id = queue.id', ...tableConditions, ...contents]);
    const columns = table === 'job' ? ready(stateIn.job) : columnsIn[table];
    return eachQueue(
      `select ${columns} from longshore.${table} where ${wanted} ${order} limit ${share}`,
      queues,
      search,
    );
  };
  const tables: Readonly<Record<Exclude<UnfinishedState, 'processing'>, readonly string[]>> = {
    scheduled: [read('job_scheduled', [])],
    awaiting: [read('job_awaiting', [])],
    enqueued: [read('job', ['server_id is null']), read('job_blocked', [])],
  };
  return `select * from (${united(tables[state])}) as newest ${order} limit ${search.limit}`;
}

type UnfinishedState = Exclude<JobState, FinishedState>;

/**
 * About how many rows of a state are read to find the newest, split evenly among the queues, and how many of each queue at
 * least.
 */
const readRows = 40_000;
const minOfQueue = 20;

/** Returns how many of the newest matching jobs of a queue are read. */
function shareOf({ holding }: JobSearch, state: JobState): number {
  if (isFinished(state) || state === 'processing') return maxSorted + 1;
  return Math.max(minOfQueue, Math.ceil(readRows / Math.max(1, holding(state).queues)));
}

/** How the values of the first term are read from an index, in which none is null. */
interface IndexScan {
  readonly isDown: boolean;
  /** The conditions that continue after the place. */
  readonly from: readonly string[];
  /** SQL expression for the value to start at; `undefined` to start at the end. */
  readonly start: string | undefined;
  readonly order: string;
  /** The order, and the limit. */
  readonly page: string;
}

function indexScanOf(column: string, { request, search, beyond, page }: Scan): IndexScan {
  const { order, reversed, after } = request;
  const isDown = (order[0]?.descending ?? false) !== reversed;
  const value = after?.[0];
  const start = typeof value === 'string' ? `${search.bind(value)}::timestamptz` : undefined;
  const isOver = value === null && !reversed; // jobs without a value follow those with one
  const bound = start === undefined ? [] : [`${column} ${isDown ? '<=' : '>='} ${start}`];
  const direction = (term: JobOrderTerm | undefined): string =>
    (term?.descending ?? false) === reversed ? 'asc' : 'desc';
  const sorted = `order by ${column} ${direction(order[0])}, id ${direction(order[1])}`;
  return {
    isDown,
    start,
    from: isOver ? ['false'] : value === null ? [] : [...bound, ...beyond],
    order: sorted,
    page: `${sorted} limit ${page}`,
  };
}

/**
 * Builds the search for the finished jobs of a state in the order of their finish. Each stage runs only if those before it
 * have not filled the page:
 *
 * - jobs that finished within a minute, and then within an hour, of the start of the page, by the block-range index of these
 *   times
 * - the jobs of the current day, which has no other index, and the first {@link firstRows} jobs of the days before, or the
 *   other way round
 * - all matches of the days before, by the indexes that serve rare matches
 */
function byFinish(state: FinishedState, scan: Scan): string {
  const { search, request, page: size } = scan;
  const { bind } = search;
  const { isDown, from, start, order, page } = indexScanOf('finished_at', scan);
  const bounds = [...boundsOf({ ...search, after: [] }), ...search.conditions.finished, ...from];
  const matches = search.ofHistory();
  const end = isDown ? (request.filter.finishedBefore ?? request.now) : request.filter.finishedAfter;
  const edge = start ?? (end === undefined ? undefined : `${bind(end)}::timestamptz`);
  const within = (period: string): string => {
    if (edge === undefined) return 'false';
    return isDown
      ? `finished_at >= ${edge} - interval '${period}'`
      : `finished_at < ${edge} + interval '${period}'`;
  };
  const select = `select ${finishedAs(state)} from`;
  const table = `longshore.job_history_${state}`;
  const today = `finished_at >= ${bind(startOfDay(search.now))}::timestamptz`;
  const beyondMinute = [...bounds, `not (${within('1 minute')})`];
  const rest = [...bounds, `not (${within('1 hour')})`];
  const isShort = (name: string, parts: readonly string[]): string =>
    `${name} as materialized (select count(*) < ${size} as short from (${united(parts.map((part) => `select 1 from ${part}`))}) as found)`;
  const isNew = (wanted: string): string =>
    all([...rest, ...matches, today, `(select short from ${wanted})`]);
  const isOld = (wanted: string): string[] => [...rest, `not (${today})`, `(select short from ${wanted})`];
  const newest = (wanted: string): string =>
    `new as materialized (${select} ${table} where ${isNew(wanted)} ${page})`;
  const oldest = (wanted: string): string =>
    matches.length === 0
      ? `old as materialized (${select} ${table} where ${all(isOld(wanted))} ${page})`
      : `old as materialized (
      ${select} (select * from ${table} where ${all(isOld(wanted))} ${order} limit ${firstRows}) as first
      where ${all(matches)} ${page}
    )`;
  const [first, second, third] = isDown
    ? ([newest, oldest, ['nearest', 'near', 'new', 'old']] as const)
    : ([oldest, newest, ['nearest', 'near', 'old']] as const);
  return `
    with nearest as materialized (
      ${select} ${table} where ${all([...bounds, ...matches, within('1 minute')])} ${page}
    ),
    ${isShort('near_wanted', ['nearest'])},
    near as materialized (
      ${select} ${table} where ${all([...beyondMinute, ...matches, within('1 hour'), '(select short from near_wanted)'])} ${page}
    ),
    ${isShort('first_wanted', ['nearest', 'near'])},
    ${first('first_wanted')},
    ${isShort('second_wanted', ['nearest', 'near', isDown ? 'new' : 'old'])},
    ${second('second_wanted')},
    ${isShort('all_wanted', third)}
    select * from nearest
    union all select * from near
    union all select * from new
    union all select * from old${
      matches.length === 0
        ? ''
        : ` where not (select short from all_wanted)
    union all ${fenced(state, [...isOld('all_wanted'), ...matches], page)}`
    }`;
}

function byDueTime(scan: Scan): string {
  const { conditions, bind, holding } = scan.search;
  const { from, page } = indexScanOf('run_at', scan);
  const contents = [...conditions.chosen, ...conditions.rows, ...conditions.error(lastError)];
  const wanted = all(['queue_id = queue.id', ...conditions.ids, ...contents, ...from]);
  return eachQueue(
    `select ${waiting('scheduled')} from longshore.job_scheduled where ${wanted} ${page}`,
    `${bind(holding('scheduled').ids)}::integer[]`,
    scan.search,
  );
}

function orderBy(order: JobOrder, reversed: boolean): string {
  const terms = order.map(({ by, descending }) => {
    const direction = descending === reversed ? 'asc' : 'desc';
    return `${columns[by][0]} ${direction}${by === 'id' ? '' : ` nulls ${reversed ? 'first' : 'last'}`}`;
  });
  return `order by ${terms.join(', ')}`;
}

/** Returns the condition for the jobs that follow a place in an order, or precede it if the list is reversed. */
function beyondPlace(
  order: JobOrder,
  place: readonly (string | number | null)[],
  reversed: boolean,
  bind: Bind,
): string {
  const terms = order.map(({ by, descending }, index) => {
    const [column, type] = columns[by];
    const value = place[index] ?? null;
    const bound = value === null ? null : `${bind(value)}::${type}`;
    const operator = descending === reversed ? '>' : '<';
    const orNull = reversed || by === 'id' ? '' : ` or ${column} is null`;
    return {
      equal: bound === null ? `${column} is null` : `${column} = ${bound}`,
      beyond:
        bound === null
          ? reversed
            ? `${column} is not null`
            : 'false'
          : `(${column} ${operator} ${bound}${orNull})`,
    };
  });
  const alternatives = terms.map(({ beyond }, index) =>
    all([...terms.slice(0, index).map(({ equal }) => equal), beyond]),
  );
  return `(${alternatives.map((alternative) => `(${alternative})`).join(' or ')})`;
}
