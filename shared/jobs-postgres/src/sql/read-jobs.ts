import { type FinishedState, isFinished, type JobFilter, type JobState } from '@longshore/jobs';
import type { Statement } from '../database.js';
import { progressOf } from './job-reports.js';
import { conditionsOf, statesOf } from './job-conditions.js';
import { countHistory, isText, searchHistory } from './search-history.js';
import { all, eachQueue, searchLines, type StageSearch } from './search-lines.js';

/** A query with its values, planned for these values. */
export interface Query {
  readonly text: string;
  readonly values: unknown[];
}

/** Of a job that has not finished. */
export const lastError = `past_attempts -> -1 -> 'error'`;

const waiting = (
  state: 'scheduled' | 'awaiting',
): string => `id, queue_id, '${state}'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  ${lastError} as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id, meta, past_attempts`;

const ready = (
  state: 'enqueued' | 'processing',
): string => `id, queue_id, '${state}'::longshore.job_state as state, name,
  priority, args, null::jsonb as result, ${lastError} as error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts`;

const held = `id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  ${lastError} as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id, meta, past_attempts`;

const finished = `id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts`;

/** The job with one id, wherever it is in its life. $1 id. Prepared: to plan it for every partition takes longer than to run it. */
export const findJob: Statement = {
  name: 'longshore-find-job',
  text: `select found.*, ${progressOf('found')} from (${jobWithId('$1')}) as found`,
};

/** What the job with the id $1 was given and returned, with all digits. */
export const findDocuments: Statement = {
  name: 'longshore-find-documents',
  text: `select found.args::text as args, coalesce(found.result::text, 'null') as result from (${jobWithId('$1')}) as found`,
};

/** The jobs with the ids $1, in their order. */
export const findJobs: Statement = {
  name: 'longshore-find-jobs',
  text: `
  select found.*, ${progressOf('found')}
  from unnest($1::uuid[]) with ordinality as wanted (wanted_id, place)
  cross join lateral (${jobWithId('wanted_id')}) as found
  order by place`,
};

/** Of those that have not finished, the id alone is in no index: each queue is asked, and only for what is not in history. */
function jobWithId(id: string): string {
  return `
  select ${finished} from longshore.job_done where id = ${id}
  union all
  select found.* from longshore.queue cross join lateral (
    select ${waiting('scheduled')} from longshore.job_waiting where queue_id = queue.id and id = ${id}
    union all
    select ${waiting('awaiting')} from longshore.job_awaiting where queue_id = queue.id and id = ${id}
    union all
    select ${ready('enqueued')} from longshore.job where queue_id = queue.id and id = ${id} and server_id is null
    union all
    select ${ready('processing')} from longshore.job where queue_id = queue.id and id = ${id} and server_id is not null
    union all
    select ${held} from longshore.job_held where queue_id = queue.id and id = ${id}
  ) as found
  limit 1`;
}

export interface SearchScope {
  readonly filter: JobFilter;
  /** Of the queues that the filter names; `undefined`: all. */
  readonly queueIds: readonly number[] | undefined;
  /** The queues that hold jobs in a state which is not that of finished ones: it is looked for in no others. */
  readonly occupied: (state: JobState) => readonly number[];
}

export interface ListRequest extends SearchScope {
  readonly newestFirst: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly after: string | undefined;
}

/** Ids are UUIDv7, so their order is that of creation; each life stage gives its first rows from an index on them. */
export function listJobs(request: ListRequest): Query {
  const { filter, queueIds, newestFirst, occupied } = request;
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const states = occupiedStates(request);
  if (states.length === 0) return { text: 'select where false', values: [] };
  const conditions = conditionsOf(filter, bind);
  const after =
    request.after === undefined ? [] : [`id ${newestFirst ? '<' : '>'} ${bind(request.after)}::uuid`];
  const order = `order by id ${newestFirst ? 'desc' : 'asc'}`;
  const limit = bind(request.limit);
  const offset = bind(request.offset);
  const most = `(${limit}::bigint + ${offset}::bigint)`;
  const parts = states.map((state) =>
    isFinished(state)
      ? searchHistory({
          state,
          filter,
          conditions,
          queueIds,
          after,
          columns: finished,
          order,
          limit: most,
          bind,
        })
      : stage(state, request, { conditions, after, queues: bind(occupied(state)), order, limit: most }),
  );
  return {
    text: `
      select listed.*, ${progressOf('listed')} from (
        select * from (${parts.map((part) => `(${part})`).join(' union all ')}) as listed ${order} limit ${limit} offset ${offset}
      ) as listed ${order}`,
    values,
  };
}

/** Counts at most `most` + 1 jobs; the caller sees by that whether there are more. */
export function countJobs(scope: SearchScope, most: number): Query {
  const { filter, queueIds, occupied } = scope;
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const states = occupiedStates(scope);
  if (states.length === 0) return { text: 'select 0 as jobs', values: [] };
  const conditions = conditionsOf(filter, bind);
  const limit = `${bind(most + 1)}::bigint`;
  const parts = states.map((state) =>
    isFinished(state)
      ? countHistory({ state, filter, conditions, queueIds, order: 'order by id desc', limit, bind })
      : `select 1 from (${stage(state, scope, { conditions, after: [], queues: bind(occupied(state)), order: '', limit })}) as counted`,
  );
  const all = parts.map((part) => `(${part})`).join(' union all ');
  return {
    text: `select count(*)::integer as jobs from (select from (${all}) as listed limit ${limit}) as counted`,
    values,
  };
}

function stage(
  state: Exclude<JobState, FinishedState>,
  { filter, occupied }: SearchScope,
  search: StageSearch,
): string {
  const { conditions, after, queues, order, limit } = search;
  const { ids, rows, claimed, error } = conditions;
  const first = `${order} limit ${limit}`;
  const contents = [...rows, ...error(lastError)];
  const wanted = [...ids, ...after, ...contents];
  const ofQueue = ['queue_id = queue.id', ...wanted];
  switch (state) {
    case 'scheduled':
    case 'awaiting':
      return eachQueue(
        `select ${waiting(state)} from longshore.job_${state === 'scheduled' ? 'waiting' : state} where ${all(ofQueue)} ${first}`,
        queues,
      );
    case 'enqueued':
      return searchLines({
        ...search,
        columns: { ready: ready(state), held },
        lines: occupied(state).length,
        contents,
        isText: isText(filter),
      });
    case 'processing':
      return eachQueue(
        `select ${ready(state)} from (${running}) as running where ${all([...wanted, ...claimed])} ${first}`,
        queues,
      );
  }
}

/**
 * Running jobs stand near the head of the line and their number is known, so the search ends with the last of them.
 * For use where `queue` is a row of the queues.
 */
export const running = `
  select * from longshore.job where queue_id = queue.id and server_id is not null
  order by priority, seq
  limit (select coalesce(sum(jobs), 0) from longshore.job_count where queue_id = queue.id and state = 'processing')`;

function occupiedStates({ filter, occupied }: SearchScope): readonly JobState[] {
  return statesOf(filter).filter((state) => isFinished(state) || occupied(state).length > 0);
}

/** When the next ready job of each of the queues $1 became ready. */
export const selectOldestReady: Statement = {
  name: 'longshore-select-oldest-ready',
  text: `
  select queue.id, next.ready_at
  from unnest($1::integer[]) as queue (id) cross join lateral (
    select ready_at from longshore.job where queue_id = queue.id and server_id is null order by priority, seq limit 1
  ) as next`,
};
