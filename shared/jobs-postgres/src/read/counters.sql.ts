import { type JobState, jobStates } from '@longshore/jobs';
import { prepared } from '../connection/statement.js';

/** Of a queue; `null`: it has never held any. */
export type CountRow = { readonly queue_id: number } & Readonly<Record<JobState, number | null>>;

export interface TotalRow {
  readonly state: JobState;
  readonly jobs: number;
}

// Exact, and as cheap with ten million jobs as with ten: they read the changes of the last second and one row a queue and state.

/** A sum of whole numbers below 2^53 is exact; one of bigint is made of digits in the end, which for a thousand queues took as long as the rest. */
const summed = 'sum(jobs::float8)';

/** Of the queues $1; null: all. In a row for each queue and state, a thousand queues take twice as long: to group, and for Node to read. */
export const selectCounts = prepared(
  'longshore-select-counts',
  `
    select queue_id, ${jobStates.map((state) => `${summed} filter (where state = '${state}') as ${state}`).join(', ')}
    from longshore.job_count where $1::integer[] is null or queue_id = any($1)
    group by queue_id`,
);

/** The queues that hold jobs of a state. */
export interface HoldingRow {
  readonly state: JobState;
  readonly queues: number;
  readonly jobs: number;
  /** Their ids, as text: they go back to Postgres as they came, and to read a thousand of them takes longer than to find them. */
  readonly ids: string;
}

/** The queues, of $2 or, if that is null, of all, that hold jobs of each of the states $1: a row for each state of which there are any. */
export const selectHolding = prepared(
  'longshore-select-holding',
  `
    select state, count(*)::integer as queues, sum(jobs) as jobs, array_agg(queue_id)::text as ids
    from (
      select queue_id, state, ${summed} as jobs from longshore.job_count
      where state = any($1::longshore.job_state[]) and ($2::integer[] is null or queue_id = any($2))
      group by queue_id, state having ${summed} > 0
    ) as held
    group by state`,
);

/** Over all queues. */
export const selectTotals = prepared(
  'longshore-select-totals',
  `select state, ${summed} as jobs from longshore.job_count group by state`,
);

/** Folds the changes together, and notes the jobs that ended by the time at which they did. Several servers may do it at once: each folds the rows that it got hold of. */
export const foldCounts = prepared(
  'longshore-fold-counts',
  `
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
);

/** More rows than this and folding pays. */
export const countRows = prepared(
  'longshore-count-rows',
  `select count(*)::integer as rows, count(distinct (queue_id, state))::integer as folded from longshore.job_count`,
);

/** Whether more jobs are ready than servers take at once: those of paused queues wait for people. */
export const areBehind = prepared(
  'longshore-are-behind',
  `
    select coalesce(sum(jobs), 0) > 1000 as behind
    from longshore.job_count join longshore.queue on queue.id = queue_id
    where state = 'enqueued' and paused_at is null`,
);
