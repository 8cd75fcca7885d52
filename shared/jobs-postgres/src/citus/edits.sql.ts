import { stateIn } from '../jobs/job-columns.sql.js';
import { dueFrom, fromNow } from '../connection/from-now.sql.js';
import { becomeReady } from '../jobs/become-ready.sql.js';
import { metaFrom } from '../enqueue/replace-jobs.sql.js';
import { outboxEntries } from '../jobs/outbox.sql.js';
import { metaWithTags } from '../control/job-editor.sql.js';
import { jobColumns } from '../jobs/job-columns.sql.js';
import { type Form, type Forms, replacedBy } from './form.js';

const edit = `
    edit as materialized (
      select * from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::timestamptz[]), unnest($6::integer[]),
        unnest($7::smallint[]), jsonb_array_elements($8::jsonb)
      ) as edit (id, args, priority, run_at, to_queue, max_attempts, tags)
    )`;

/**
 * SQL for the scheduled time after the edit. Keeps the microseconds of the stored time if the new time equals it to the
 * millisecond.
 */
const runAt = `case when date_trunc('milliseconds', removed.run_at) is not distinct from date_trunc('milliseconds', edit.run_at)
        then removed.run_at else edit.run_at end`;

/**
 * Returns the Citus form that edits the jobs of one table. Deletes and reinserts the jobs, because on Citus a row
 * cannot change its queue.
 *
 * @param columns the columns that only this table has, each preceded by a comma
 */
function editWaiting(table: 'job_scheduled' | 'job_awaiting', columns: string): Form {
  return replacedBy(`
    with ${edit},
    removed as (
      delete from longshore.${table} where queue_id = $1 and id = any($2::uuid[]) returning *
    ),
    edited as materialized (
      select edit.to_queue as queue_id, removed.id, created_at, ${table === 'job_scheduled' ? dueFrom(runAt) : runAt} as run_at,
        edit.priority, attempt, coalesce(edit.max_attempts, removed.max_attempts) as max_attempts, name, edit.args,
        ${metaWithTags('removed.meta', 'edit.tags')} as meta, past_attempts${columns}
      from removed join edit on edit.id = removed.id
    ),
    inserted as (
      insert into longshore.${table} (${jobColumns}${columns}) select ${jobColumns}${columns} from edited
    ),
    moved as materialized (select queue_id, count(*) as jobs from edited where queue_id <> $1 group by queue_id),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select queue_id, ${stateIn[table]}, jobs from moved
      union all select $1, ${stateIn[table]}, -jobs from moved
    )
    select 1 from moved`);
}

const moveRelatedRows = replacedBy(`
    with moved as materialized (select * from unnest($2::uuid[], $3::integer[]) as moved (id, to_queue)),
    recorded as (
      insert into longshore.moved_job (job_id, queue_id) select id, to_queue from moved order by id
      on conflict (job_id) do update set queue_id = excluded.queue_id
    ),
    dependencies as (
      update longshore.job_dependency set queue_id = moved.to_queue, marked = resolved_at is not null
      from moved where child_id = moved.id
    ),
    aside as (
      update longshore.set_aside set queue_id = moved.to_queue from moved where job_id = moved.id
    ),
    withdrawn as (
      delete from longshore.job_cancellation where queue_id = $1 and job_id = any($2::uuid[])
      returning job_id, requested_at, reason
    ),
    requested as (
      insert into longshore.job_cancellation (queue_id, job_id, requested_at, reason)
      select moved.to_queue, job_id, requested_at, reason from withdrawn join moved on moved.id = withdrawn.job_id
      on conflict (queue_id, job_id) do nothing
    ),
    reports as (
      delete from longshore.job_report
      where queue_id = $1 and job_id = any($2::uuid[]) and started_at >= $4::timestamptz - interval '1 hour'
      returning *
    ),
    inserted as (
      insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, level, percent, message, fields, written_at)
      select moved.to_queue, job_id, started_at, line, attempt, at, level, percent, message, fields, written_at
      from reports join moved on moved.id = reports.job_id
    )
    select 1 from moved`);

const due = `case when content.due_at is null then ${fromNow('content.due_in')} else ${dueFrom('content.due_at')} end`;

const removed = (table: string, more: string): string => `
      delete from longshore.${table} where queue_id = $1 and id = any($2::uuid[])${table === 'job' ? ' and server_id is null' : ''}
      returning queue_id, id, created_at, attempt, name, meta, past_attempts, ${more}`;

/** Like the single-node form, but computes new values in CTEs, because Citus cannot compute them in updates. */
const replaceJobs = replacedBy(`
    with content as materialized (
      select * from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::smallint[]),
        unnest($6::jsonb[]), unnest($7::timestamptz[]), unnest($8::float8[])
      ) as content (id, args, priority, max_attempts, meta, due_at, due_in)
    ),
    old_ready as (${removed('job', 'seq')}),
    old_blocked as (${removed('job_blocked', 'seq')}),
    old_waiting as (${removed('job_scheduled', 'retried_at')}),
    held_awaiting as materialized (
      select id, meta, attempt from longshore.job_awaiting where queue_id = $1 and id = any($2::uuid[]) for update
    ),
    new_awaiting as materialized (
      select holder.id, content.args, content.priority, greatest(content.max_attempts, holder.attempt + 1)::smallint as max_attempts,
        ${metaFrom('holder')} as meta, content.due_at, content.due_in
      from held_awaiting as holder join content on content.id = holder.id
    ),
    awaiting as (
      update longshore.job_awaiting as holder
      set args = new_awaiting.args, priority = new_awaiting.priority, max_attempts = new_awaiting.max_attempts,
        meta = new_awaiting.meta, run_at = new_awaiting.due_at, delay_ms = new_awaiting.due_in
      from new_awaiting where holder.queue_id = $1 and holder.id = new_awaiting.id
      returning holder.id
    ),
    old as materialized (
      select *, null::timestamptz as retried_at, 'enqueued'::longshore.job_state as state from old_ready
      union all select *, null, 'enqueued' from old_blocked
      union all select queue_id, id, created_at, attempt, name, meta, past_attempts, nextval('longshore.job_seq'), retried_at, 'scheduled'
      from old_waiting
    ),
    removed as materialized (
      select holder.queue_id, holder.id, holder.created_at, ${due} as run_at, content.priority, holder.attempt,
        greatest(content.max_attempts, holder.attempt + 1)::smallint as max_attempts, holder.name, content.args,
        ${metaFrom('holder')} as meta, holder.past_attempts, holder.meta as held_meta, holder.seq, holder.retried_at, holder.state
      from old as holder join content on content.id = holder.id
    ),
    arriving as materialized (select * from removed where run_at is null),
    ${becomeReady('arriving', 'seq', `${jobColumns}, seq`)},
    waiting as (
      insert into longshore.job_scheduled (${jobColumns}, retried_at)
      select ${jobColumns}, retried_at from removed where run_at is not null
    ),
    were_ready as materialized (
      select queue_id, id, state, held_meta as meta from removed where state = 'enqueued'
    ),
    ${outboxEntries('were_ready', 'state', 'state')},
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, sum(change.jobs)
      from (
        select state, -1 as jobs from removed
        union all select case when run_at is null then 'enqueued' else 'scheduled' end::longshore.job_state, 1 from removed
      ) as change (state, jobs)
      group by change.state having sum(change.jobs) <> 0
    )
    select id from removed union all select id from awaiting`);

/** Citus forms of statements that change the content or queues of jobs. */
export const editForms: Forms = {
  'longshore-edit-job_scheduled': editWaiting('job_scheduled', ', retried_at'),
  'longshore-edit-job_awaiting': editWaiting('job_awaiting', ', delay_ms'),
  'longshore-move-related-rows': moveRelatedRows,
  'longshore-replace-jobs': replaceJobs,
};
