import { jobColumns } from './job-columns.sql.js';
import { gapCte, type Visibility } from './ready-scans.sql.js';

/** SQL condition on a job: it has a concurrency key. */
export const hasKey = `coalesce(meta ? 'concurrencyKey', false)`;

/**
 * Returns CTEs that make jobs ready. Jobs with a concurrency key become blocked instead, and an outbox row makes a
 * server check whether the key has room.
 *
 * @param source name of the CTE that returns the jobs
 * @param order the columns that determine the order in which the jobs join the queue
 * @param options.columns the columns to copy from `source`; by default, {@link jobColumns}. Without `due_at`, the jobs are
 *   due now
 * @param options.visibility `late` if scans might pass the jobs' positions before the transaction commits
 */
export function becomeReady(
  source: string,
  order: string,
  { columns = jobColumns, visibility = 'soon' }: { columns?: string; visibility?: Visibility } = {},
): string {
  return `
    ready as (
      insert into longshore.job (${columns}) select ${columns} from ${source} where not ${hasKey} order by ${order}${
        visibility === 'late'
          ? `\n      returning queue_id, priority, seq\n    ),${gapCte('ready')},`
          : '\n    ),'
      }
    blocked as (
      insert into longshore.job_blocked (${columns}) select ${columns} from ${source} where ${hasKey} order by ${order}
    ),
    arrived as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select distinct on (queue_id, meta -> 'concurrencyKey') queue_id, id, 'enqueued'::longshore.job_state,
        'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
      from ${source} where ${hasKey}
    )`;
}
