import { isUsedAgain } from '../control/queues.sql.js';
import { isIdleCancellation } from '../jobs/job-control.sql.js';
import { hasStrays } from '../history/history-days.sql.js';
import { prepared } from '../connection/statement.js';

export interface DueChores {
  /** The number of rows that folding the counters would remove. */
  foldable: number;
  /** Names of small tables that have grown beyond their limits. */
  bloated: string[];
  /** Whether there are requests to cancel jobs that are no longer running. */
  missed: boolean;
  /** Whether rows have landed in a default partition of history. */
  strays: boolean;
  /** Whether retired queues are in use again. */
  returning: boolean;
}

/**
 * Returns which chores are due. Tables below their limits (256 KB or 1 MB) are not rewritten, because a rewrite makes
 * every connection plan its statements again. On Citus, only tables of the coordinator are; on the nodes, vacuum keeps the
 * others small.
 */
export const findChores = prepared(
  'longshore-find-chores',
  choresWith(
    `('job_count', 1048576), ('outbox', 1048576), ('scan_gap', 1048576), ('queue_bucket', 262144), ('server', 262144)`,
  ),
  choresWith(`('scan_gap', 1048576), ('server', 262144)`),
);

/** @param tables the tables to rewrite, and their limits in bytes */
function choresWith(tables: string): string {
  return `
    select counted.foldable,
      array(
        select name from (values ${tables})
          as small (name, most)
        where pg_relation_size(('longshore.' || name)::regclass) > most
      ) as bloated,
      exists (select 1 from longshore.job_cancellation as request where ${isIdleCancellation}) as missed,
      ${hasStrays} as strays,
      exists (select 1 from longshore.queue where ${isUsedAgain}) as returning
    from (select (count(*) - count(distinct (queue_id, state)))::integer as foldable from longshore.job_count) as counted`;
}
