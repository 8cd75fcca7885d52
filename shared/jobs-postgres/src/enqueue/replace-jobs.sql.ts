import { linkMembers, type NewJob } from '@longshore/jobs/storage';
import { jobColumns } from '../jobs/job-columns.sql.js';
import { arrayOf } from '../connection/array-literal.js';
import { dueFrom, fromNow } from '../connection/database.sql.js';
import { outboxEntries } from '../jobs/outbox.sql.js';
import { prepared } from '../connection/statement.js';
import type { Insert } from '../jobs/inserts.sql.js';
import { becomeReady } from '../jobs/become-ready.sql.js';

const tiesOf = (meta: string): string =>
  `jsonb_strip_nulls(jsonb_build_object(${linkMembers.map((tie) => `'${tie}', ${meta} -> '${tie}'`).join(', ')}))`;
const restOf = (meta: string): string => `coalesce(${meta} - array['${linkMembers.join(`', '`)}'], '{}')`;
export const metaFrom = (table: string): string =>
  `nullif(${tiesOf(`${table}.meta`)} || ${restOf('content.meta')}, '{}')`;

const due = `case when content.due_at is null then ${fromNow('content.due_in')} else ${dueFrom('content.due_at')} end`;

const removed = (table: string, condition = ''): string => `
      delete from longshore.${table} as holder using content
      where holder.queue_id = $1 and holder.id = content.id ${condition}
      returning holder.queue_id, holder.id, holder.created_at, ${due} as run_at, content.priority, holder.attempt,
        greatest(content.max_attempts, holder.attempt + 1)::smallint as max_attempts, holder.name, content.args,
        ${metaFrom('holder')} as meta, holder.past_attempts, holder.meta as held_meta`;

const removedOnNode = (table: string, more: string): string => `
      delete from longshore.${table} where queue_id = $1 and id = any($2::uuid[])${table === 'job' ? ' and server_id is null' : ''}
      returning queue_id, id, created_at, attempt, name, meta, past_attempts, ${more}`;

/**
 * $1 queue; parallel arrays sorted by id: $2 ids, $3 arguments, $4 priorities, $5 maximum attempts, $6 metadata, $7 due
 * times, $8 delays in ms. Replaces the content of unfinished jobs that are not running. Makes these jobs ready or
 * scheduled, depending on their new due times; jobs that wait for parents keep waiting. A job that stays ready keeps
 * its position. Returns the ids of the replaced jobs. The form for Citus computes new values in CTEs, because Citus cannot
 * compute them in updates.
 */
const replaceJobs = prepared(
  'longshore-replace-jobs',
  `
    with content as materialized (
      select * from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::smallint[]),
        unnest($6::jsonb[]), unnest($7::timestamptz[]), unnest($8::float8[])
      ) as content (id, args, priority, max_attempts, meta, due_at, due_in)
    ),
    old_ready as (${removed('job', 'and holder.server_id is null')}, holder.seq),
    old_blocked as (${removed('job_blocked')}, holder.seq),
    old_waiting as (${removed('job_scheduled')}, holder.retried_at),
    awaiting as (
      update longshore.job_awaiting as holder
      set args = content.args, priority = content.priority, max_attempts = greatest(content.max_attempts, holder.attempt + 1),
        meta = ${metaFrom('holder')}, run_at = content.due_at, delay_ms = content.due_in
      from content where holder.queue_id = $1 and holder.id = content.id
      returning holder.id
    ),
    removed as (
      select *, null::timestamptz as retried_at, 'enqueued'::longshore.job_state as state from old_ready
      union all select *, null, 'enqueued' from old_blocked
      union all select ${jobColumns}, held_meta, nextval('longshore.job_seq'), retried_at, 'scheduled' from old_waiting
    ),
    arriving as (select * from removed where run_at is null),
    ${becomeReady('arriving', 'seq', { columns: `${jobColumns}, seq`, visibility: 'late' })},
    waiting as (
      insert into longshore.job_scheduled (${jobColumns}, retried_at)
      select ${jobColumns}, retried_at from removed where run_at is not null
    ),
    were_ready as (
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
    select id from removed union all select id from awaiting`,
  `
    with content as materialized (
      select * from rows from (
        unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($4::smallint[]), unnest($5::smallint[]),
        unnest($6::jsonb[]), unnest($7::timestamptz[]), unnest($8::float8[])
      ) as content (id, args, priority, max_attempts, meta, due_at, due_in)
    ),
    old_ready as (${removedOnNode('job', 'seq')}),
    old_blocked as (${removedOnNode('job_blocked', 'seq')}),
    old_waiting as (${removedOnNode('job_scheduled', 'retried_at')}),
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
    ${becomeReady('arriving', 'seq', { columns: `${jobColumns}, seq` })},
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
    select id from removed union all select id from awaiting`,
);

/**
 * Builds the statement that replaces the content of jobs in one queue.
 *
 * @param contents the new content, by job id
 */
export function replacement(queueId: number, contents: ReadonlyMap<string, NewJob>): Insert {
  const sorted = [...contents].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const jobs = sorted.map(([, job]) => job);
  return {
    statement: replaceJobs,
    values: [
      queueId,
      arrayOf(sorted.map(([id]) => id)),
      `[${jobs.map(({ args }) => args).join(',')}]`,
      arrayOf(jobs.map(({ priority }) => priority)),
      arrayOf(jobs.map(({ maxAttempts }) => maxAttempts)),
      jobs.map(({ meta }) => meta ?? null),
      jobs.map(({ due }) => (due !== null && 'at' in due ? due.at.toISOString() : null)),
      jobs.map(({ due }) => (due !== null && 'inMs' in due ? due.inMs : null)),
    ],
  };
}
