import { prepared } from '../connection/statement.js';

/** SQL expression for a job's metadata without the signals that it waited for when it was last suspended. */
export const metaWithoutAwaits = `case when meta ? 'awaits' then nullif(meta - array['awaits', 'cancels'], '{}') else meta end`;

/**
 * Returns an SQL condition on a job of the queue $1: it has all signals of a name that it waits for.
 *
 * @param id SQL expression for the job's id
 * @param awaits SQL expression for the numbers of signals that it waits for, by name; a JSON object
 */
export function hasAwaited(id: string, awaits: string): string {
  return `exists (
          select 1 from jsonb_each_text(${awaits}) as awaited (name, needed)
          where (
            select count(*) from longshore.job_signal as signal
            where signal.queue_id = $1 and signal.job_id = ${id} and signal.name = awaited.name
          ) >= awaited.needed::integer)`;
}

/**
 * $1 queue, $2 ids. Finds the running ones of these jobs. Locks them until the transaction ends, so that none is suspended
 * meanwhile; `locked` is false for those that another transaction is moving.
 */
export const holdRunning = prepared(
  'longshore-hold-running',
  `
    with running as materialized (
      select id from longshore.job where queue_id = $1 and id = any($2::uuid[]) and server_id is not null
    ),
    held as materialized (
      select id from longshore.job where queue_id = $1 and id = any($2::uuid[]) and server_id is not null
      order by id for key share skip locked
    )
    select id, id in (select id from held) as locked from running`,
);

/** $1 queue, $2 ids. Makes the suspended ones of these jobs due that have all signals of a name that they wait for. */
export const wakeSuspended = prepared(
  'longshore-wake-suspended',
  `
    update longshore.job_scheduled as job set run_at = now()
    where job.queue_id = $1 and job.id = any($2::uuid[]) and job.run_at > now()
      and jsonb_typeof(job.meta -> 'awaits') = 'object' and ${hasAwaited('job.id', "job.meta -> 'awaits'")}
    returning job.id`,
);
