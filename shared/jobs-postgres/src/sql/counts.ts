import { type JobState, jobStates } from '@longshore/jobs';
import type { Statement } from '../database.js';

/** Of a queue; `null`: it has never held any. */
export type CountRow = { readonly queue_id: number } & Readonly<Record<JobState, string | null>>;

export interface TotalRow {
  readonly state: JobState;
  readonly jobs: string;
}

// Exact, and as cheap with ten million jobs as with ten: they read the changes of the last second and one row a queue and state.

/** Of the queues $1; null: all. In a row for each queue and state, a thousand queues take twice as long: to group, and for Node to read. */
export const selectCounts: Statement = {
  name: 'longshore-select-counts',
  text: `
    select queue_id, ${jobStates.map((state) => `sum(jobs) filter (where state = '${state}') as ${state}`).join(', ')}
    from longshore.job_count where $1::integer[] is null or queue_id = any($1)
    group by queue_id`,
};

/** Over all queues. */
export const selectTotals: Statement = {
  name: 'longshore-select-totals',
  text: `select state, sum(jobs) as jobs from longshore.job_count group by state`,
};

/** Folds the changes together, and notes the jobs that ended by the time at which they did. Several servers may do it at once: each folds the rows that it got hold of. */
export const foldCounts: Statement = {
  name: 'longshore-fold-counts',
  text: `
    with folded as (
      delete from longshore.job_count
      where ctid = any (array(select ctid from longshore.job_count for update skip locked))
      returning queue_id, state, jobs, at
    ),
    ended as (
      insert into longshore.throughput as counted (queue_id, at, done, failed)
      select place.queue_id, place.at, coalesce(sum(jobs) filter (where state = 'done'), 0),
        coalesce(sum(jobs) filter (where state = 'failed'), 0)
      from folded
      cross join lateral (
        values (0, date_bin('10 seconds', folded.at, 'epoch')), (folded.queue_id, date_bin('1 minute', folded.at, 'epoch'))
      ) as place (queue_id, at)
      where folded.at is not null and jobs > 0 and state in ('done', 'failed')
      group by place.queue_id, place.at order by place.queue_id, place.at
      on conflict (queue_id, at) do update set done = counted.done + excluded.done, failed = counted.failed + excluded.failed
    )
    insert into longshore.job_count (queue_id, state, jobs, at)
    select queue_id, state, sum(jobs), null from folded group by queue_id, state having sum(jobs) <> 0`,
};

/** More rows than this and folding pays. */
export const countRows: Statement = {
  name: 'longshore-count-rows',
  text: `select count(*)::integer as rows, count(distinct (queue_id, state))::integer as folded from longshore.job_count`,
};

/** $1 days ahead. */
export const makePartitions: Statement = {
  name: 'longshore-make-partitions',
  text: `select longshore.make_partitions($1)`,
};
