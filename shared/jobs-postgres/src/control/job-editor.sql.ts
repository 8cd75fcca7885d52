import { jobColumns, type LiveTable, liveTables, stateIn } from '../jobs/job-columns.sql.js';
import { becomeReady } from '../jobs/become-ready.sql.js';
import { dueFrom } from '../connection/database.sql.js';
import { outboxEntries } from '../jobs/outbox.sql.js';
import { gapCte } from '../jobs/ready-scans.sql.js';
import { prepared, type Statement } from '../connection/statement.js';

const readyTables = ['job', 'job_blocked'] as const;
const waitingTables = ['job_scheduled', 'job_awaiting'] as const;

type Statements<Table extends LiveTable> = Readonly<Record<Table, Statement>>;

function ofTables<Table extends LiveTable>(
  tables: readonly Table[],
  define: (table: Table) => Statement,
): Statements<Table> {
  return Object.fromEntries(tables.map((table) => [table, define(table)])) as Statements<Table>;
}

const unclaimed = (table: LiveTable): string => (table === 'job' ? 'and server_id is null' : '');

export interface LockedRow {
  id: string;
  /** The arguments as JSON text, so that numbers keep all their digits. */
  args: string;
}

/**
 * $1 queue, $2 ids. Locks the jobs until the transaction ends and returns them. Leaves out jobs that have been claimed.
 */
export const lockEditable = ofTables(liveTables, (table) =>
  prepared(
    `longshore-lock-editable-${table}`,
    `
    select id, args::text as args from longshore.${table}
    where queue_id = $1 and id = any($2::uuid[]) ${unclaimed(table)} order by id for update`,
  ),
);

/** $1 queue, $2 id. Like {@link lockEditable}, but for one job. */
export const lockOneEditable = ofTables(liveTables, (table) =>
  prepared(
    `longshore-lock-one-${table}`,
    `select id from longshore.${table} where queue_id = $1 and id = $2 ${unclaimed(table)} for update`,
  ),
);
/**
 * Returns an SQL condition: the edited time equals the stored time. Compares milliseconds, because JavaScript dates
 * have no microseconds.
 */
const sameTime = (stored: string, edited: string): string =>
  `date_trunc('milliseconds', ${stored}) is not distinct from date_trunc('milliseconds', ${edited})`;

/** SQL expression for the job's time after the edit. An unchanged time keeps its microseconds. */
const runAt = `case when ${sameTime('job.run_at', 'edit.run_at')} then job.run_at else edit.run_at end`;

/** SQL condition on a removed job: the edit does not change the time. */
const keepsTime = sameTime('run_at', 'new_run_at');

/**
 * The CTE `edit`, with one row per edited job: $1 queue; parallel arrays: $2 ids, $3 arguments, $4 priorities, $5
 * times, $6 new queues, $7 maximum attempts and $8 tags, each null if unchanged. The jobs must already be locked.
 */
const edit = `
    edit as materialized (
      select * from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::timestamptz[]), unnest($6::integer[]),
        unnest($7::smallint[]), jsonb_array_elements($8::jsonb)
      ) as edit (id, args, priority, run_at, to_queue, max_attempts, tags)
    )`;

/** Returns an SQL expression for a job's metadata with other tags; `tags` is JSON null if they stay as they are. */
export const metaWithTags = (
  meta: string,
  tags: string,
): string => `case when ${tags} = 'null' then ${meta} else nullif(
        (case when jsonb_typeof(${meta}) = 'object' then ${meta} else '{}' end) - 'tags'
          || case when ${tags} = '[]' then '{}' else jsonb_build_object('tags', ${tags}) end,
        '{}'
      ) end`;

/** The assignments of what an edit changes wherever the job is. */
const content = `args = edit.args, priority = edit.priority, max_attempts = coalesce(edit.max_attempts, job.max_attempts),
        meta = ${metaWithTags('job.meta', 'edit.tags')}`;

/** Edits ready or blocked jobs that stay in their queue and do not become scheduled. */
export const editReady = ofTables(readyTables, (table) =>
  prepared(
    `longshore-edit-${table}`,
    `
    with ${edit},
    edited as (
      update longshore.${table} as job set ${content}
      from edit where job.queue_id = $1 and job.id = edit.id
      returning job.queue_id, job.priority, job.seq
    )${table === 'job' ? `, ${gapCte('edited')}` : ''}
    select 1 from edited`,
  ),
);

/** The columns that only one of the tables has, each preceded by a comma. */
const ownColumns = { job_scheduled: ', retried_at', job_awaiting: ', delay_ms' } as const;

/**
 * Returns the text, for Citus, of a statement that edits the jobs of one table. Deletes and reinserts the jobs, because on
 * Citus a row cannot change its queue.
 */
function editOnNodes(table: 'job_scheduled' | 'job_awaiting'): string {
  const columns = ownColumns[table];
  const newRunAt = `case when ${sameTime('removed.run_at', 'edit.run_at')}
        then removed.run_at else edit.run_at end`;
  return `
    with ${edit},
    removed as (
      delete from longshore.${table} where queue_id = $1 and id = any($2::uuid[]) returning *
    ),
    edited as materialized (
      select edit.to_queue as queue_id, removed.id, created_at, ${table === 'job_scheduled' ? dueFrom(newRunAt) : newRunAt} as run_at,
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
    select 1 from moved`;
}

/** Edits scheduled or awaiting jobs, and moves them if their queue changes. */
export const editWaiting = ofTables(waitingTables, (table) =>
  prepared(
    `longshore-edit-${table}`,
    `
    with ${edit},
    edited as (
      update longshore.${table} as job
      set queue_id = edit.to_queue, ${content}, run_at = ${table === 'job_scheduled' ? dueFrom(runAt) : runAt}
      from edit where job.queue_id = $1 and job.id = edit.id
      returning job.queue_id
    ),
    moved as (select queue_id, count(*) as jobs from edited where queue_id <> $1 group by queue_id)
    insert into longshore.job_count (queue_id, state, jobs)
    select queue_id, ${stateIn[table]}, jobs from moved
    union all select $1, ${stateIn[table]}, -jobs from moved`,
    editOnNodes(table),
  ),
);

/** Edits ready or blocked jobs that move to another queue or become scheduled. */
export const moveReady = ofTables(readyTables, (table) =>
  prepared(
    `longshore-change-queue-${table}`,
    `
    with ${edit},
    removed as (
      delete from longshore.${table} as job using edit where job.queue_id = $1 and job.id = edit.id
      returning job.*, edit.args as new_args, edit.priority as new_priority, edit.run_at as new_run_at, edit.to_queue,
        coalesce(edit.max_attempts, job.max_attempts) as new_max_attempts, ${metaWithTags('job.meta', 'edit.tags')} as new_meta
    ),
    edited as (
      select to_queue as queue_id, id, created_at, case when ${keepsTime} then run_at else ${dueFrom('new_run_at')} end as run_at,
        new_priority as priority, attempt, new_max_attempts as max_attempts, name, new_args as args, new_meta as meta, past_attempts, not (${keepsTime}) as waits,
        ${table === 'job' ? 'coalesce(due_at, ready_at) as due_at' : 'due_at'}
      from removed
    ),
    arriving as (select * from edited where not waits),
    ${becomeReady('arriving', 'id', { columns: `${jobColumns}, due_at` })},
    waiting as (insert into longshore.job_scheduled (${jobColumns}) select ${jobColumns} from edited where waits),
    ${outboxEntries('removed', `'enqueued'::longshore.job_state`, `'enqueued'::longshore.job_state`)}
    insert into longshore.job_count (queue_id, state, jobs)
    select queue_id, case when waits then 'scheduled' else 'enqueued' end::longshore.job_state, count(*)
    from edited group by 1, 2
    union all select $1, 'enqueued', -count(*) from edited having count(*) > 0`,
  ),
);

/** Statement that has the relay look at the moved jobs, in their old queues and in their new ones. */
const signalsNoted = `
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select place, id, 'processing'::longshore.job_state, 'processing'::longshore.job_state, '{"signalled": true}'::jsonb
      from moved, unnest(array[$1::integer, to_queue]) as place`;

/** All columns of `job_step`. */
const stepColumns = `queue_id, job_id, name, kind, state, position, result, error, is_remembered, attempts, until, signals, child_id, input, job_attempt,
      server_id, started_at, finished_at`;

/**
 * Moves the rows of other tables that contain the queues of the given jobs: cancellation requests, dependencies on other
 * jobs, logs and progress, steps and signals. Also records the new queues, because unique keys and idempotency keys stay in the
 * old queue, and lookups by key must still find the jobs. The relay looks for signals in the old queue once more, because some may
 * have been sent there meanwhile, and wakes the jobs.
 *
 * The unresolved dependencies of a job must be marked again. Otherwise, the end of a parent could have no effect if the
 * outbox relay looked for the job in its old queue at the same time.
 *
 * $1 old queue; parallel arrays: $2 jobs, $3 their new queues; $4 when the oldest of these jobs was created.
 */
export const moveRelatedRows = prepared(
  'longshore-change-queue-related-rows',
  `
    with moved as materialized (select * from unnest($2::uuid[], $3::integer[]) as moved (id, to_queue)),
    recorded as (
      insert into longshore.moved_job (job_id, queue_id) select id, to_queue from moved order by id
      on conflict (job_id) do update set queue_id = excluded.queue_id
    ),
    withdrawn as (
      delete from longshore.job_cancellation as request using moved
      where request.queue_id = $1 and request.job_id = moved.id
      returning moved.to_queue, request.job_id, request.requested_at, request.reason
    ),
    requested as (
      insert into longshore.job_cancellation (queue_id, job_id, requested_at, reason) select * from withdrawn
      on conflict (queue_id, job_id) do nothing
    ),
    dependencies as (
      update longshore.job_dependency as dependency set queue_id = moved.to_queue, marked = resolved_at is not null
      from moved where dependency.child_id = moved.id
    ),
    aside as (
      update longshore.set_aside set queue_id = moved.to_queue from moved where set_aside.job_id = moved.id
    ),
    steps as (
      update longshore.job_step as step set queue_id = moved.to_queue from moved where step.queue_id = $1 and step.job_id = moved.id
    ),
    signals as (
      update longshore.job_signal as signal set queue_id = moved.to_queue from moved where signal.queue_id = $1 and signal.job_id = moved.id
    ),
    noted as (${signalsNoted})
    update longshore.job_report as report set queue_id = moved.to_queue
    from moved
    where report.queue_id = $1 and report.job_id = moved.id and report.started_at >= $4::timestamptz - interval '1 hour'`,
  `
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
    steps as (
      delete from longshore.job_step where queue_id = $1 and job_id = any($2::uuid[]) returning *
    ),
    put_steps as (
      insert into longshore.job_step (${stepColumns}) select moved.to_queue, ${stepColumns.replace('queue_id, ', '')}
      from steps join moved on moved.id = steps.job_id
    ),
    signals as (
      delete from longshore.job_signal where queue_id = $1 and job_id = any($2::uuid[]) returning *
    ),
    put_signals as (
      insert into longshore.job_signal (queue_id, job_id, name, id, data, at, sent_by)
      select moved.to_queue, job_id, name, signals.id, data, at, sent_by from signals join moved on moved.id = signals.job_id
    ),
    noted as (${signalsNoted}),
    inserted as (
      insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, level, percent, message, fields, written_at)
      select moved.to_queue, job_id, started_at, line, attempt, at, level, percent, message, fields, written_at
      from reports join moved on moved.id = reports.job_id
    )
    select 1 from moved`,
);
