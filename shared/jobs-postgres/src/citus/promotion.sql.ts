import { jobColumns } from '../jobs/job-columns.sql.js';
import { hasKey } from '../jobs/become-ready.sql.js';
import { notCancelled, promotedColumns } from '../maintain/promotion.sql.js';
import { type Form, type Forms, replacedBy } from './form.js';
import { jobNumbers, numberOf, outboxNumbers, seqOf } from './numbers.sql.js';

/** A FROM item with the due jobs, numbered by scheduled time. The first CTE has locked these jobs. */
const due = `(
        select *, row_number() over (order by run_at) as place from longshore.job_scheduled
        where queue_id = $1 and id = any ((select all_of from ids)::uuid[])
      ) as due`;

const inserted = (table: string, condition: string): string => `
      insert into longshore.${table} (${jobColumns}, seq)
      select ${jobColumns}, ${seqOf('place')} from ${due} where ${condition}`;

/**
 * Returns the Citus form that makes due jobs ready. Every CTE that reads or writes jobs is a single task on the queue's
 * node.
 *
 * @param which SQL after `where`: the condition, the order and any limit
 */
function promote(which: string): Form {
  return replacedBy(`
    with locked as materialized (select id from longshore.job_scheduled where ${which} for update skip locked),
    ids as materialized (select array_agg(id) as all_of from locked), ${jobNumbers('locked')}, ${outboxNumbers('locked')},
    ready as (${inserted('job', `not ${hasKey}`)}),
    blocked as (${inserted('job_blocked', hasKey)}),
    arrived as (
      insert into longshore.outbox (id, queue_id, job_id, from_state, to_state, meta)
      select distinct on (meta -> 'concurrencyKey') ${numberOf('place')}, queue_id, id, 'enqueued'::longshore.job_state,
        'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', meta -> 'concurrencyKey')
      from ${due} where ${hasKey}
    ),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select queue_id, change.state, change.sign * count(*)
      from ${due}, (values ('scheduled'::longshore.job_state, -1), ('enqueued', 1)) as change (state, sign)
      group by queue_id, change.state, change.sign
    ),
    moved as (
      delete from longshore.job_scheduled where queue_id = $1 and id = any ((select all_of from ids)::uuid[]) returning id, name, meta
    )
    select ${promotedColumns} from moved`);
}

/** Citus forms of statements that make scheduled jobs ready. */
export const promotionForms: Forms = {
  'longshore-promote-due': promote(
    `queue_id = $1 and run_at >= $3::timestamptz and run_at <= now() and ${notCancelled} order by run_at limit $2`,
  ),
  'longshore-promote-some': promote(
    `queue_id = $1 and run_at <= now() and id = any($2::uuid[]) and ${notCancelled} order by run_at`,
  ),
};
