import type { Statement } from '../database.js';
import { becomeReady } from './hold-back.js';
import { isShown } from './shown-queues.js';

/** For each queue with waiting jobs: milliseconds until the first is due, negative if it is overdue; a day at most, which no time can exceed. */
export const nextDue: Statement = {
  name: 'longshore-next-due',
  text: `
    select queue.id, extract(epoch from least(greatest(next.run_at, now() - interval '1 day'), now() + interval '1 day') - now())::float8 * 1000 as due_in
    from longshore.queue
    cross join lateral (
      select run_at from longshore.job_waiting where queue_id = queue.id order by run_at limit 1
    ) as next
    where ${isShown}
    order by next.run_at`,
};

/** $1 queue, $2 limit. Several servers may do it at once; each job goes to one of them. */
export const promoteDue: Statement = {
  name: 'longshore-promote-due',
  text: promote('queue_id = $1 and run_at <= now() order by run_at limit $2'),
};

/** $1 queue, $2 ids. The same for some of those that are due. */
export const promoteSome: Statement = {
  name: 'longshore-promote-some',
  text: promote('queue_id = $1 and run_at <= now() and id = any($2::uuid[]) order by run_at'),
};

/** $1 queue, $2 ids to leave alone, $3 limit. */
export const selectDue: Statement = {
  name: 'longshore-select-due',
  text: `
    select id from longshore.job_waiting
    where queue_id = $1 and run_at <= now() and id <> all($2::uuid[])
    order by run_at limit $3`,
};

export interface PromotedRow {
  promoted: number;
  /** Whether any of them is held back until its concurrency key has room. */
  held: boolean;
}

function promote(which: string): string {
  return `
    with due as materialized (
      select id from longshore.job_waiting
      where ${which}
      for update skip locked
    ),
    moved as (
      delete from longshore.job_waiting using due
      where job_waiting.queue_id = $1 and job_waiting.id = due.id
      returning job_waiting.*
    ),
    ${becomeReady('moved', 'run_at')},
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from (select count(*) as jobs from moved) as total,
        (values ('scheduled'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select count(*)::integer as promoted, coalesce(bool_or(meta ? 'concurrencyKey'), false) as held from moved`;
}
