import type { JobFilter, JobState } from '@longshore/jobs';
import type { Statement } from '../database.js';
import { progressOf } from './job-reports.js';
import { conditionsOf, type JobConditions, statesOf } from './job-conditions.js';

/** A query with its values, planned for these values. */
export interface Query {
  readonly text: string;
  readonly values: unknown[];
}

const waiting = (
  state: 'scheduled' | 'awaiting',
): string => `id, queue_id, '${state}'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id, meta, past_attempts`;

const ready = (
  state: 'enqueued' | 'processing',
): string => `id, queue_id, '${state}'::longshore.job_state as state, name,
  priority, args, null::jsonb as result, past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts`;

const held = `id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  past_attempts -> -1 -> 'error' as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id, meta, past_attempts`;

const finished = `id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts`;

/** The job with one id, wherever it is in its life. $1 id. Prepared: to plan it for every partition takes longer than to run it. */
export const findJob: Statement = {
  name: 'longshore-find-job',
  text: `select found.*, ${progressOf('found')} from (${jobWithId('$1')}) as found`,
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

function jobWithId(id: string): string {
  return `
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
  union all
  select ${finished} from longshore.job_done where id = ${id}
  limit 1`;
}

export interface ListRequest {
  readonly filter: JobFilter;
  /** Of the queues that the filter names; `undefined`: all. */
  readonly queueIds: readonly number[] | undefined;
  readonly newestFirst: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly after: string | undefined;
}

/** Ids are UUIDv7, so their order is that of creation; each life stage gives its first rows from an index on them. */
export function listJobs(request: ListRequest): Query {
  const { text, values } = selectJobs(request);
  const order = `order by id ${request.newestFirst ? 'desc' : 'asc'}`;
  return { text: `select listed.*, ${progressOf('listed')} from (${text}) as listed ${order}`, values };
}

function selectJobs(request: ListRequest): Query {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const states = statesOf(request.filter);
  if (states.length === 0)
    return {
      text: 'select null::integer as queue_id, null::uuid as id, null::timestamptz as started_at where false',
      values: [],
    };
  const conditions = conditionsOf(request.filter, bind);
  const after =
    request.after === undefined ? [] : [`id ${request.newestFirst ? '<' : '>'} ${bind(request.after)}::uuid`];
  const order = `order by id ${request.newestFirst ? 'desc' : 'asc'}`;
  const limit = bind(request.limit);
  const offset = bind(request.offset);
  const queues = request.queueIds === undefined ? undefined : `${bind(request.queueIds)}::integer[]`;
  const first = `${order} limit ${limit}::bigint + ${offset}::bigint`;
  const wanted = { ...conditions, rows: [...conditions.rows, ...after] };
  const parts = states.map((state) => `(${stage(state, wanted, queues, first)})`);
  return {
    text: `select * from (${parts.join(' union all ')}) as listed ${order} limit ${limit} offset ${offset}`,
    values,
  };
}

/** Counts at most `most` + 1 jobs; the caller sees by that whether there are more. */
export function countJobs(filter: JobFilter, queueIds: readonly number[] | undefined, most: number): Query {
  const list = selectJobs({
    filter,
    queueIds,
    newestFirst: true,
    limit: most + 1,
    offset: 0,
    after: undefined,
  });
  return { text: `select count(*)::integer as jobs from (${list.text}) as counted`, values: list.values };
}

function stage(
  state: JobState,
  { rows, claimed, finished: ended, byMeta }: JobConditions,
  queues: string | undefined,
  first: string,
): string {
  switch (state) {
    case 'scheduled':
    case 'awaiting':
      return eachQueue(
        `select ${waiting(state)} from longshore.job_${state === 'scheduled' ? 'waiting' : state} where ${all(['queue_id = queue.id', ...rows])} ${first}`,
        queues,
      );
    case 'enqueued':
      return eachQueue(
        `(select ${ready(state)} from longshore.job where ${all(['queue_id = queue.id', 'server_id is null', ...rows])} ${first})
        union all
        (select ${held} from longshore.job_held where ${all(['queue_id = queue.id', ...rows])} ${first})`,
        queues,
      );
    case 'processing':
      return eachQueue(
        `select ${ready(state)} from (${running}) as running where ${all([...rows, ...claimed])} ${first}`,
        queues,
      );
    case 'done':
    case 'failed':
    case 'cancelled': {
      const queue = queues === undefined ? [] : [`queue_id = any(${queues})`];
      const matching = `select ${finished} from longshore.job_done where ${all([`state = '${state}'`, ...queue, ...rows, ...claimed, ...ended])}`;
      // `offset 0` keeps the two apart: what few jobs carry would else be sought among all, from the newest on.
      return byMeta ? `select * from (${matching} offset 0) as matching ${first}` : `${matching} ${first}`;
    }
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

function eachQueue(part: string, queues: string | undefined): string {
  const where = queues === undefined ? '' : `where queue.id = any(${queues})`;
  return `select part.* from longshore.queue cross join lateral (${part}) as part ${where}`;
}

function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}

/** When the next ready job of each queue became ready. */
export const oldestReadyText = `
  select queue.id, next.ready_at
  from longshore.queue cross join lateral (
    select ready_at from longshore.job where queue_id = queue.id and server_id is null order by priority, seq limit 1
  ) as next`;
