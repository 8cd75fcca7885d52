import type { JobMeta, JsonValue } from '@longshore/jobs';
import type { Statement } from '../connection/database.js';

export interface ClaimedRow {
  /** Whether the server is registered; the other members are null when there is nothing to claim. */
  alive: boolean;
  id: string;
  seq: string;
  priority: number;
  attempt: number;
  max_attempts: number;
  name: string;
  args: JsonValue;
  created_at: Date;
  meta: JobMeta | null;
  /** Whether the queue has limits, which only {@link claimWithinLimits} heeds; reliable when nothing was claimed. */
  limited: boolean;
  /** Whether the queue is paused; reliable when nothing was claimed. */
  paused: boolean;
}

/**
 * $1 queue, $2 server, $3 limit, $4 lease in ms; parallel arrays of the ranges to scan, in the order in which their jobs run:
 * $5 priorities, $6 the places after which, $7 those up to which.
 *
 * The server's row is locked against the rescuer, which deletes it: a claim is committed before its server is declared
 * dead, and then released with the others, or it finds no row and claims nothing. KEY SHARE does not hinder heartbeats.
 * It is taken only when there is something to claim, for a row lock is a write.
 *
 * The start is told by the clock: a job may be committed after this transaction began, and yet be seen by its snapshot, so
 * that by `now()` it would have started before it was created.
 *
 * Only jobs whose names the server has handlers for are claimed (all, if it did not say): the others stay in the queue for a
 * server that knows them, which matters while two versions of an application run side by side. The names are those that the
 * server registered, so what a server claims is what the list of servers shows. Measured on a drain: no difference.
 */
function claim(
  before: string,
  candidates: string,
  after: string,
  told: string,
  one = '(values (1)) as one',
): string {
  return `
    with ${before} names as materialized (select job_names as handled from longshore.server where id = $2),
    candidate as materialized (${candidates}),
    alive as materialized (
      select id from longshore.server where id = $2 and exists (select from candidate) for key share
    ),
    claimed as (
      update longshore.job
      set server_id = $2, attempt = job.attempt + 1, started_at = clock_timestamp(),
        lease_until = now() + $4::float8 * interval '1 millisecond'
      from candidate, alive
      where job.queue_id = $1 and job.id = candidate.id
      returning job.id, job.seq, job.priority, job.attempt, job.max_attempts, job.name, job.args, job.created_at,
        job.meta
    ),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from (select count(*) as jobs from claimed) as total,
        (values ('enqueued'::longshore.job_state, -1), ('processing', 1)) as change (state, sign)
      where total.jobs > 0
    )${after}
    select exists (select from longshore.server where id = $2) as alive, claimed.*, ${told}
    from ${one} left join claimed on true`;
}

const isHandled = `coalesce(name = any ((select handled from names)::text[]), true)`;

/**
 * Ranges begin behind the last claimed job, so that the cost does not grow with the entries of finished jobs that a long
 * transaction elsewhere keeps from being vacuumed: measured 77 → 26k jobs/s over five rounds without, flat with (docs/adr/001).
 */
const inRanges = (open: string, limit: string): string => `
      select next.id
      from unnest($5::smallint[], $6::bigint[], $7::bigint[]) as range (priority, after, up_to)
      cross join lateral (
        select job.id from longshore.job
        where job.queue_id = $1 and job.priority = range.priority and job.seq > range.after and job.seq <= range.up_to
          and job.server_id is null and ${isHandled} and ${open}
        order by job.seq limit ${limit}
        for update skip locked
      ) as next
      limit ${limit}`;

const unlimited = `not exists (
        select from longshore.queue
        where id = $1 and (paused_at is not null or concurrency_limit is not null or rate_limit is not null))`;

const setting = (condition: string): string =>
  `claimed.id is null and exists (select from longshore.queue where id = $1 and (${condition}))`;

/** For queues without limits; from others it takes nothing. */
export const claimReady: Statement = {
  name: 'longshore-claim-ready',
  text: claim(
    '',
    inRanges(unlimited, '$3'),
    '',
    `${setting('concurrency_limit is not null or rate_limit is not null')} as limited,
      ${setting('paused_at is not null')} as paused`,
  ),
};

export interface LimitedClaimedRow extends ClaimedRow {
  /** How many jobs the limits allowed. */
  room: number;
  /** Milliseconds until the bucket holds a token again; `null` without a rate limit. */
  token_in: number | null;
}

/** $1 queue. Those that claim from a queue with limits wait for one another, so that each sees what the one before took. */
export const lockBucket: Statement = {
  name: 'longshore-lock-bucket',
  text: `select from longshore.queue_bucket where queue_id = $1 for update`,
};

/**
 * $1 queue, $2 tokens. For a queue whose limits were set past `limitQueue`, by SQL. Locks the row as above; of two that make it, the later
 * waits for the earlier.
 */
export const makeBucket: Statement = {
  name: 'longshore-make-bucket',
  text: `
    insert into longshore.queue_bucket as bucket (queue_id, tokens) values ($1, $2)
    on conflict (queue_id) do update set tokens = bucket.tokens`,
};

/** Whoever waited for the lock sees what others took meanwhile only in a statement begun afterwards. `least` passes over nulls. */
const room = `
    setting as materialized (
      select paused_at is null as open, concurrency_limit, rate_limit, refill, clock.now,
        least((rate_limit -> 'burst')::float8, bucket.tokens + refill *
          greatest(0, extract(epoch from clock.now - bucket.refilled_at)::float8 * 1000)) as tokens
      from longshore.queue
      left join longshore.queue_bucket as bucket on bucket.queue_id = queue.id
      cross join lateral (
        select (rate_limit -> 'jobs')::float8 / (rate_limit -> 'periodMs')::float8 as refill, clock_timestamp() as now
      ) as clock
      where queue.id = $1
    ),
    room as materialized (
      select greatest(0, least($3::bigint, floor(tokens + 1e-6)::bigint, concurrency_limit - (
          select coalesce(sum(jobs), 0)::bigint from longshore.job_count where queue_id = $1 and state = 'processing'
        ))) as jobs
      from setting where open
    ),`;

const spent = `,
    spent as (
      update longshore.queue_bucket as bucket
      set tokens = setting.tokens - total.jobs, refilled_at = setting.now
      from setting, (select count(*) as jobs from claimed) as total
      where bucket.queue_id = $1 and setting.tokens is not null and total.jobs > 0
    )`;

const told = `concurrency_limit is not null or rate_limit is not null as limited, not open as paused,
      coalesce((select jobs from room), 0)::integer as room,
      greatest(0, 1 - tokens + (select count(*) from claimed)) / refill as token_in`;

const allowed = 'coalesce((select jobs from room), 0)';

/** For queues with limits, or those that had some. In a transaction that holds {@link lockBucket}. */
export const claimWithinLimits: Statement = {
  name: 'longshore-claim-within-limits',
  text: claim(room, inRanges('true', allowed), spent, told, 'setting'),
};
