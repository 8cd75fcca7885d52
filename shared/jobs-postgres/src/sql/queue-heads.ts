import { arrayOf } from '../array-literal.js';
import type { Statement } from '../database.js';
import type { Query } from './job-search.js';
import { isShown } from './shown-queues.js';

/** So many first jobs are looked at, 70 ms at most: each of a queue and a priority. */
const mostHeads = 20_000;

export interface OldestReadyRow {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly ready_at: number;
}

/**
 * When the oldest ready job of each queue became ready, in milliseconds since 1970: of a thousand, dates take 1 ms to
 * read. Within a priority the oldest stands first, so one job of each priority that the queue holds is read, and
 * what stands between is leapt over (a loose index scan). Goes through all queues priority by priority: in a store
 * with more heads than it reads it leaves out the least urgent ones.
 */
function oldestReady(queues: string): string {
  return `
  with recursive head as (
    select queue.id, first.priority, first.ready_at
    from ${queues} as queue (id) cross join lateral (
      select priority, ready_at from longshore.job where queue_id = queue.id and server_id is null
      order by priority, seq limit 1
    ) as first
    union all
    select head.id, first.priority, first.ready_at
    from head cross join lateral (
      select priority, ready_at from longshore.job
      where queue_id = head.id and priority > head.priority and server_id is null
      order by priority, seq limit 1
    ) as first
  )
  select id, (extract(epoch from min(ready_at)) * 1000)::float8 as ready_at
  from (select id, ready_at from head limit ${mostHeads}) as looked_at
  group by id`;
}

export const selectOldestReady: Query = {
  name: 'longshore-select-oldest-ready',
  text: oldestReady(`(select id from longshore.queue where ${isShown})`),
  values: [],
};

const ofSome: Statement = {
  name: 'longshore-select-oldest-ready-of',
  text: oldestReady('unnest($1::integer[])'),
};

export function selectOldestReadyOf(queueIds: readonly number[]): Query {
  return { ...ofSome, values: [arrayOf(queueIds)] };
}
