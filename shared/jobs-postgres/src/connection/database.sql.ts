import { prepared, unnamed } from './statement.js';
import { bounds } from '@longshore/jobs/storage';

/**
 * $1 process id of a backend, $2 application name. Terminates the backend if its connection still has this application
 * name, and waits up to a second for the backend to end.
 */
export const endTransaction = prepared(
  'longshore-end-transaction',
  `
    select pg_terminate_backend(pid, 1000) from pg_stat_activity
    where pid = $1 and application_name = $2 and datname = current_database() and usename = current_user`,
);

/** $1 queue ids. Locks the queues until the transaction ends, in ascending order to avoid deadlocks. */
export const lockQueues = prepared(
  'longshore-lock-queues',
  `
    select pg_advisory_xact_lock(longshore.lock_key('job', id))::text
    from (select distinct id from unnest($1::integer[]) as id order by id) as queue`,
);

/**
 * Makes Citus commit the transaction on all nodes or on none. Otherwise, Citus commits on a worker node first, and then
 * on the coordinator. A crash in between would lose the writes on the coordinator.
 *
 * The statement deletes no rows. It has an effect because any write to a table that Citus manages on the coordinator
 * triggers two-phase commit. A transaction that writes on no other node has no additional cost.
 */
export const forceTwoPhaseCommit = unnamed('delete from longshore.two_phase_commit');

/**
 * Returns an SQL expression for the time at which a job scheduled for `time` is due. A past time becomes the current
 * time, because the cursor of the scan for due jobs might already have passed it.
 */
export function dueFrom(time: string): string {
  return `greatest(${time}, now())`;
}

/**
 * Returns an SQL expression for the time `ms` milliseconds from now; the expression is null if `ms` is null. The delay
 * is clamped to the valid range, so that a row with an invalid delay does not make the statement fail.
 */
export function fromNow(ms: string): string {
  return `case when ${ms} is not null then now() + least(greatest(${ms}, 0), ${bounds.delayMs.max}) * interval '1 millisecond' end`;
}
