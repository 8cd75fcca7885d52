import { sortCollation } from '@longshore/edge';
import type { JsonValue, NewRecurringJob, RecurringJob } from '@longshore/jobs';
import {
  buildRecurringRun,
  type JsonText,
  type MisfirePolicy,
  type NewJob,
  type OverlapPolicy,
  readRate,
  readUniqueness,
  toUniqueness,
} from '@longshore/jobs/storage';
import { beginPause, endPause, type PauseRow, toPauseState } from '../queues/pause.sql.js';
import { inLiveTables, liveTables } from '../jobs/job-columns.sql.js';
import { prepared } from '../connection/statement.js';

export interface RecurringJobRow extends PauseRow {
  id: string;
  name: string;
  args: JsonValue;
  version: number;
  queue: string;
  priority: number;
  max_attempts: number;
  timeout_ms: number | null;
  cron: string | null;
  time_zone: string;
  every: string | null;
  anchor: Date | null;
  misfire: MisfirePolicy;
  misfire_limit: number;
  overlap: OverlapPolicy;
  tags: string[];
  concurrency_key: string | null;
  concurrency_limit: number | null;
  concurrency_rate: unknown;
  uniqueness: JsonValue;
  max_ready: number | null;
  application: string | null;
  next_due_at: Date | null;
  last_due_at: Date | null;
  last_job_id: string | null;
  created_at: Date;
  updated_at: Date;
}

/** A row with the database's time, and with the arguments as JSON text, which preserves all digits of numbers. */
export type RecurringJobRowNow = RecurringJobRow & { now: Date; args_text: JsonText };

const described =
  'name, args, version, queue, priority, max_attempts, timeout_ms, cron, time_zone, every, anchor, misfire, misfire_limit, overlap, tags, concurrency_key, concurrency_limit, concurrency_rate, uniqueness, max_ready';

/**
 * $1 id, $2 to $21 description, $22 application, $23 next due time. Ignores $23 if the recurring job already exists and
 * is paused or keeps its schedule. Returns no row if the recurring job is unchanged or belongs to another owner.
 */
export const upsertRecurringJob = prepared(
  'longshore-upsert-recurring-job',
  `
    insert into longshore.recurring_job as old (id, ${described}, application, next_due_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
    on conflict (id) do update set (${described}, updated_at, next_due_at) = (
      select ${columnsOf('excluded')}, now(),
        case
          when old.paused_at is not null or (old.cron, old.time_zone, old.every, old.anchor)
            is not distinct from (excluded.cron, excluded.time_zone, excluded.every, excluded.anchor) then old.next_due_at
          else excluded.next_due_at
        end
    )
    where old.application is not distinct from excluded.application
      and (${columnsOf('old')}) is distinct from (${columnsOf('excluded')})
    returning *`,
);

/** Takes the parameters of {@link upsertRecurringJob}. Returns no row if the id is already in use. */
export const insertRecurringJob = prepared(
  'longshore-insert-recurring-job',
  `
    insert into longshore.recurring_job (id, ${described}, application, next_due_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
    on conflict (id) do nothing
    returning *`,
);

export function upsertValues(
  job: NewRecurringJob,
  application: string | null,
  nextDueAt: Date | null,
): unknown[] {
  const { id, name, args, version, queue, priority, maxAttempts, timeoutMs, cron, timeZone, every, anchor } =
    job;
  const { misfire, misfireLimit, overlap, tags, concurrency, unique, maxBacklog } = job;
  const description = [
    name,
    args,
    version,
    queue,
    priority,
    maxAttempts,
    timeoutMs,
    cron,
    timeZone,
    every,
    anchor,
    misfire,
    misfireLimit,
    overlap,
    tags,
    concurrency?.key ?? null,
    concurrency?.limit ?? null,
    concurrency?.rate ?? null,
    unique === null ? null : JSON.stringify(toUniqueness(unique)),
    maxBacklog,
  ];
  return [id, ...description, application, nextDueAt];
}

export const selectNow = prepared('longshore-now', 'select now() as now');

/** SQL condition. $1 names, $2 queues, $3 applications; each is null for any. */
const matchesFilter = `($1::text[] is null or name = any($1)) and ($2::text[] is null or queue = any($2))
      and ($3::text[] is null or application = any($3))`;

/** $1 to $3 as in {@link matchesFilter}, $4 the id after which the page begins, $5 limit, $6 offset. */
export const selectRecurringJobs = {
  ascending: prepared(
    'longshore-select-recurring-jobs',
    `
    select * from longshore.recurring_job where ${matchesFilter}
      and ($4::text is null or id collate ${sortCollation} > $4)
    order by id collate ${sortCollation} limit $5 offset $6`,
  ),
  descending: prepared(
    'longshore-select-recurring-jobs-descending',
    `
    select * from longshore.recurring_job where ${matchesFilter}
      and ($4::text is null or id collate ${sortCollation} < $4)
    order by id collate ${sortCollation} desc limit $5 offset $6`,
  ),
};

/** $1 to $3 as in {@link matchesFilter}. */
export const countRecurringJobs = prepared(
  'longshore-count-recurring-jobs',
  `select count(*)::integer as jobs from longshore.recurring_job where ${matchesFilter}`,
);

export const selectRecurringJob = prepared(
  'longshore-select-recurring-job',
  'select *, args::text as args_text, now() as now from longshore.recurring_job where id = $1',
);

/** Reads the arguments as JSON text, which preserves all digits of numbers. */
export const selectRecurringArgs = prepared(
  'longshore-select-recurring-args',
  'select args::text as args from longshore.recurring_job where id = $1',
);

export const lockRecurringJob = prepared(
  'longshore-lock-recurring-job',
  'select *, args::text as args_text, now() as now from longshore.recurring_job where id = $1 for update',
);

/**
 * $1 application, $2 ids. Locks the recurring jobs that belong to the application or have one of the ids. Returns the
 * id and owner of each.
 */
export const lockOwned = prepared(
  'longshore-lock-owned-recurring-jobs',
  `
    select id, application from longshore.recurring_job where application = $1 or id = any($2::text[])
    order by id for update`,
);

export const deleteRecurringJobs = prepared(
  'longshore-delete-recurring-jobs',
  'delete from longshore.recurring_job where id = any($1::text[]) returning id',
);

/** $1 id; $2 to $4 as in {@link beginPause}. */
export const pauseRecurringJob = prepared(
  'longshore-pause-recurring-job',
  `
    update longshore.recurring_job set ${beginPause}, next_due_at = null
    where id = $1 returning *`,
);

/** $1 id, $2 next due time. */
export const resumeRecurringJob = prepared(
  'longshore-resume-recurring-job',
  `update longshore.recurring_job set ${endPause}, next_due_at = $2 where id = $1 returning *`,
);

/** SQL condition: the recurring job is not set aside, is due for a retry, or has changed since it was set aside. */
const isNotSetAside = `not exists (
  select 1 from longshore.set_aside as aside
  where aside.role = 'recurring' and aside.key = recurring_job.id and aside.failed_at >= recurring_job.updated_at
    and (aside.retry_at > now() or aside.discarded_at is not null)
)`;

/**
 * Returns whether any recurring job is due and not set aside, and the milliseconds until the next one becomes due, or a
 * day if none becomes due within a day.
 */
export const nextDueRecurring = prepared(
  'longshore-next-due-recurring',
  `
    select exists (select 1 from longshore.recurring_job where next_due_at <= now() and ${isNotSetAside}) as due,
      (select extract(epoch from least(min(next_due_at), now() + interval '1 day') - now())::float8 * 1000
        from longshore.recurring_job where next_due_at > now()) as next_due_in`,
);

/** SQL condition: the job that the recurring job enqueued last is unfinished. */
const lastJobUnfinished = `exists (
  select 1 from longshore.queue cross join lateral (
    ${inLiveTables((table) => `select 1 from longshore.${table} where queue_id = queue.id and id = recurring_job.last_job_id`)}
  ) as unfinished
)`;

/**
 * CTEs, for Citus, which searches all shards once for all of these jobs.
 *
 * @param which SQL condition on the recurring jobs whose last jobs are searched
 */
const lastJobsUnfinished = (
  which: string,
): string => `last as materialized (select array_agg(last_job_id) as ids from longshore.recurring_job where ${which}),
    busy as materialized (
      select id from (${liveTables.map((table) => `select id from longshore.${table} where id = any ((select ids from last)::uuid[]) and queue_id in (select id from longshore.queue)`).join(' union all ')}) as unfinished
    )`;

/**
 * $1 limit, $2 id of the only recurring job to lock, or null. Locks recurring jobs that are due, those without a unique key
 * first. Skips a recurring job if another server has locked it, if it is set aside, or if it must wait until its last job has
 * ended.
 */
export const lockDueRecurring = prepared(
  'longshore-lock-due-recurring',
  lockDue('', `not ${lastJobUnfinished}`),
  lockDue(
    `with ${lastJobsUnfinished(`next_due_at <= now() and overlap = 'wait'`)}`,
    '(last_job_id is null or last_job_id not in (select id from busy))',
  ),
);

/**
 * @param ctes a `with` clause; may be empty
 * @param isOver SQL condition on a recurring job: its last job has ended
 */
function lockDue(ctes: string, isOver: string): string {
  return `${ctes}
    select *, args::text as args_text, now() as now from longshore.recurring_job
    where next_due_at <= now() and ($2::text is null or id = $2) and ${isNotSetAside} and (overlap <> 'wait' or ${isOver})
    order by uniqueness is not null, next_due_at limit $1
    for update skip locked`;
}

/**
 * $1 ids. Returns the recurring jobs whose last job is unfinished. Must run after the statement that locks the
 * recurring jobs, so that it sees a job that another server has just enqueued.
 */
export const selectBusy = prepared(
  'longshore-select-busy-recurring',
  `select id from longshore.recurring_job where id = any($1::text[]) and ${lastJobUnfinished}`,
  `
    with ${lastJobsUnfinished('id = any($1::text[])')}
    select id from longshore.recurring_job where id = any($1::text[]) and last_job_id in (select id from busy)`,
);

/** $1 queue. Returns its backlog: the number of its ready and blocked jobs. */
export const selectBacklog = prepared(
  'longshore-select-backlog-for-recurring',
  `
    select coalesce(sum(jobs), 0)::float8 as jobs from longshore.job_count
    where queue_id = (select id from longshore.queue where name = $1) and state = 'enqueued'`,
);

/**
 * $1 id, $2 next due time, $3 latest due time for which a job was enqueued, $4 id of that job. Null in $3 or $4 keeps
 * the old value.
 */
export const advanceRecurring = prepared(
  'longshore-move-on-recurring',
  `
    update longshore.recurring_job
    set next_due_at = $2, last_due_at = coalesce($3, last_due_at), last_job_id = coalesce($4, last_job_id)
    where id = $1`,
);

export function toRecurringJob(row: RecurringJobRow): RecurringJob {
  return {
    id: row.id,
    name: row.name,
    args: row.args,
    version: row.version,
    queue: row.queue,
    priority: row.priority,
    maxAttempts: row.max_attempts,
    timeoutMs: row.timeout_ms,
    cron: row.cron,
    timeZone: row.time_zone,
    every: row.every,
    anchor: row.anchor,
    misfire: row.misfire,
    misfireLimit: row.misfire_limit,
    overlap: row.overlap,
    maxBacklog: row.max_ready,
    tags: row.tags,
    concurrency: concurrencyOf(row),
    unique: readUniqueness(row.uniqueness),
    application: row.application,
    ...toPauseState(row),
    nextDueAt: row.next_due_at,
    lastDueAt: row.last_due_at,
    lastJobId: row.last_job_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Builds the job to enqueue for a recurring job. */
export function toRun(row: RecurringJobRowNow): NewJob {
  return buildRecurringRun(toRecurringJob(row), row.args_text, row.now);
}

function concurrencyOf(row: RecurringJobRow): RecurringJob['concurrency'] {
  const { concurrency_key: key, concurrency_limit: limit, concurrency_rate: stored } = row;
  if (key === null || limit === null) return null;
  const rate = readRate(stored);
  return { key, limit, ...(rate !== null && { rate }) };
}

function columnsOf(table: string): string {
  return described
    .split(', ')
    .map((column) => `${table}.${column}`)
    .join(', ');
}

/**
 * $1 id of the recurring job, $2 start and $3 end of the span, $4 reason. Records a span of missed runs. If a recorded
 * span with the same reason ends where this one starts, extends the recorded span instead.
 */
export const recordMissed = prepared(
  'longshore-record-missed-run',
  `
    with extended as (
      update longshore.missed_run set until_at = $3::timestamptz
      where recurring_job_id = $1 and until_at = $2::timestamptz and reason = $4
      returning 1
    )
    insert into longshore.missed_run (recurring_job_id, from_at, until_at, reason)
    select $1, $2::timestamptz, $3::timestamptz, $4 where not exists (select 1 from extended)
    on conflict (recurring_job_id, from_at) do update
    set until_at = greatest(missed_run.until_at, excluded.until_at), reason = excluded.reason`,
);

/**
 * $1 ids of recurring jobs, $2 maximum number of spans for each of these jobs. Selects the latest spans of missed runs,
 * newest first.
 */
export const selectMissed = prepared(
  'longshore-select-missed-runs',
  `
    select missed.recurring_job_id as "recurringJobId", missed.from_at as "from", missed.until_at as "until", missed.reason
    from unnest($1::text[]) as wanted (id) cross join lateral (
      select * from longshore.missed_run where recurring_job_id = wanted.id order by from_at desc limit $2
    ) as missed
    order by missed.from_at desc, missed.recurring_job_id`,
);

/** $1 maximum age in days. */
export const deleteOldMissed = prepared(
  'longshore-delete-old-missed-runs',
  `delete from longshore.missed_run where until_at < now() - $1 * interval '1 day'`,
);
