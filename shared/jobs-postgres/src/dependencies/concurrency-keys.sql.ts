import { bounds, maxOldLimits } from '@longshore/jobs/storage';
import { jobColumns } from '../jobs/job-columns.sql.js';
import { prepared } from '../connection/statement.js';

/** The id of no job, for outbox rows whose only effect is that a key is checked. */
export const nobody = '00000000-0000-0000-0000-000000000000';

/** Returns a query that counts the ready and running jobs that have the key `wanted.key`. */
const taken = (queue: string): string => `
      select count(*) as jobs from longshore.job
      where queue_id = ${queue} and meta ? 'concurrencyKey' and meta ->> 'concurrencyKey' = wanted.key`;

/** Returns a query for the first blocked jobs that have the key `wanted.key`, in queue order. */
const nextBlocked = (queue: string, columns: string, limit: string): string => `
      select ${columns} from longshore.job_blocked
      where queue_id = ${queue} and meta ->> 'concurrencyKey' = wanted.key order by priority, seq limit ${limit}`;

/**
 * SQL expression for a job's concurrency limit. A limit that is not a number counts as 1, and a limit that is out of
 * range is clamped. Otherwise, one invalid limit would make the statement fail for other keys too.
 */
export const limitOf = `case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
  then least(greatest((meta -> 'concurrencyLimit')::numeric, 1), ${bounds.concurrencyLimit.max})::integer else 1 end`;

/**
 * $1 queue, $2 keys. Locks the semaphores of the keys until the transaction ends, in the order of the lock ids to avoid
 * deadlocks.
 */
export const lockKeys = prepared(
  'longshore-lock-keys',
  `
    select pg_advisory_xact_lock(key.lock)::text
    from (
      select distinct hashtextextended(key, longshore.lock_key('concurrency_key', $1::integer)) as lock
      from unnest($2::text[]) as key order by lock
    ) as key`,
);

/**
 * $1 queue, $2 distinct keys. Makes as many blocked jobs of each key ready as the key has room for. The limit of the
 * first blocked job applies, and each further job must also fit within its own limit. Must run after {@link lockKeys},
 * as a separate statement. Only then does the snapshot include jobs that other transactions have made ready.
 */
export const unblockJobs = prepared(
  'longshore-unblock-jobs',
  `
    with head as materialized (
      select wanted.key, allowed.jobs, allowed.is_rated
      from unnest($2::text[]) as wanted (key)
      cross join lateral (${nextBlocked('$1', `${limitOf} as jobs, meta ? 'concurrencyRate' as is_rated`, '1')}) as allowed
    ),
    admissible as materialized (
      select candidate.id
      from head as wanted
      cross join lateral (${taken('$1')}) as taken
      cross join lateral (
        select id, bool_and(place <= own_limit) over (order by place) as fits
        from (
          select id, own_limit, taken.jobs + row_number() over (order by priority, seq) as place
          from (${nextBlocked('$1', `id, priority, seq, ${limitOf} as own_limit`, 'greatest(0, wanted.jobs - taken.jobs)')}) as next
        ) as next
      ) as candidate
      where candidate.fits and not wanted.is_rated
    ),
    unblocked as (
      delete from longshore.job_blocked using admissible
      where job_blocked.queue_id = $1 and job_blocked.id = admissible.id
      returning job_blocked.*
    ),
    ready as (
      insert into longshore.job (${jobColumns}, due_at) select ${jobColumns}, due_at from unblocked order by priority, seq
    )
    select count(*)::integer as unblocked, array(select key from head where is_rated order by key) as rated from unblocked`,
);

export interface UnblockedRow {
  unblocked: number;
}

export interface RatedKeyRow {
  now_ms: number;
  full_at_ms: number | null;
  /** The rate of the first blocked job. */
  rate: unknown;
  /** The limit of the first blocked job. */
  allowed: number;
  /** Number of ready and running jobs with the key. */
  taken: number;
  /** Number of those that no server has claimed. */
  unclaimed: number;
}

/**
 * $1 queue, $2 key. Reads a key with a rate; no row if none of its jobs is blocked. Must run after {@link lockKeys}.
 */
export const readRatedKey = prepared(
  'longshore-read-rated-key',
  `
    select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms, extract(epoch from rate.full_at)::float8 * 1000 as full_at_ms,
      first.rate, first.allowed, taken.jobs as taken, taken.unclaimed
    from (
      select meta -> 'concurrencyRate' as rate, ${limitOf} as allowed from longshore.job_blocked
      where queue_id = $1 and meta ->> 'concurrencyKey' = $2 order by priority, seq limit 1
    ) as first
    cross join (
      select count(*)::integer as jobs, (count(*) filter (where server_id is null))::integer as unclaimed from longshore.job
      where queue_id = $1 and meta ? 'concurrencyKey' and meta ->> 'concurrencyKey' = $2
    ) as taken
    left join longshore.key_rate as rate on rate.queue_id = $1 and rate.key = $2`,
);

/** $1 queue, $2 key, $3 number. Makes the first blocked jobs of a key ready. */
export const unblockFirst = prepared(
  'longshore-unblock-first',
  `
    with unblocked as (
      delete from longshore.job_blocked
      where queue_id = $1 and id = any (array(
        select id from longshore.job_blocked where queue_id = $1 and meta ->> 'concurrencyKey' = $2
        order by priority, seq limit $3::integer
      ))
      returning *
    ),
    ready as (
      insert into longshore.job (${jobColumns}, due_at) select ${jobColumns}, due_at from unblocked order by priority, seq
    )
    select count(*)::integer as unblocked from unblocked`,
);

export interface LimitedRow {
  changed: number;
  before: number[];
}

/**
 * $1 queue, $2 key, $3 limit. Sets the limit of the blocked jobs of a key. Returns how many had another, and up to ten of the
 * limits before. Must run after {@link lockKeys}, so that no other transaction makes these jobs ready at the same time.
 * Measured: 10,000 jobs take 0.2 s, 100,000 take 2 s.
 */
export const limitBlocked = prepared(
  'longshore-limit-blocked',
  `
    with blocked as materialized (
      select id, ${limitOf} as jobs from longshore.job_blocked
      where queue_id = $1 and meta ->> 'concurrencyKey' = $2 order by id for update
    ),
    changed as (
      update longshore.job_blocked as job
      set meta = jsonb_set(job.meta, '{concurrencyLimit}', to_jsonb($3::integer))
      from blocked where job.queue_id = $1 and job.id = blocked.id and blocked.jobs <> $3::integer
      returning 1
    )
    select (select count(*)::integer from changed) as changed,
      to_jsonb(array(select distinct jobs from blocked order by jobs limit ${maxOldLimits})) as before`,
);

/** $1 queue, $2 key. Has a key checked for room. */
export const checkKey = prepared(
  'longshore-check-key',
  `
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    values ($1, '${nobody}', 'enqueued', 'enqueued', jsonb_build_object('concurrencyKey', $2::text))`,
);

/** $1 queue, $2 key. Returns a row if jobs of the key are blocked. */
export const selectBlocked = prepared(
  'longshore-select-blocked',
  `select 1 from longshore.job_blocked where queue_id = $1 and meta ->> 'concurrencyKey' = $2 limit 1`,
);

/** $1 queue, $2 key, $3 when its bucket is full, $4 when its blocked jobs can follow; null for when one of its jobs ends. */
export const saveKeyRate = prepared(
  'longshore-save-key-rate',
  `
    insert into longshore.key_rate (queue_id, key, full_at, wake_at)
    values ($1, $2, to_timestamp($3::float8 / 1000), to_timestamp($4::float8 / 1000))
    on conflict (queue_id, key) do update set full_at = excluded.full_at, wake_at = excluded.wake_at`,
);

/** Returns the queues with keys that have tokens again for blocked jobs. */
export const selectWaking = prepared(
  'longshore-select-waking',
  'select distinct queue_id from longshore.key_rate where queue_id > 0 and wake_at <= now() order by queue_id',
);

/** $1 queue. Has the keys checked that have tokens again for blocked jobs. */
export const wakeKeys = prepared(
  'longshore-wake-keys',
  `
    with woken as (
      update longshore.key_rate set wake_at = null where queue_id = $1 and wake_at <= now() returning queue_id, key
    )
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select queue_id, '${nobody}', 'enqueued', 'enqueued', jsonb_build_object('concurrencyKey', key) from woken`,
);

/** Deletes the keys whose buckets are full, and for which no blocked job waits. */
export const deleteFullKeyRates = prepared(
  'longshore-delete-full-key-rates',
  'delete from longshore.key_rate where queue_id > 0 and full_at < now() and wake_at is null',
);

/**
 * Adds an outbox row for every key that has both room and blocked jobs. A key can be in this state after jobs were
 * deleted directly from the tables. Steps from key to key through the index, so the number of blocked jobs per key does
 * not matter.
 */
export const recordKeysWithRoom = prepared(
  'longshore-record-keys-with-room',
  `
    with recursive wanted as (
      (
        select queue_id, id, meta ->> 'concurrencyKey' as key from longshore.job_blocked
        where queue_id > 0 order by queue_id, meta ->> 'concurrencyKey' limit 1
      )
      union all
      select next.* from wanted cross join lateral (
        select queue_id, id, meta ->> 'concurrencyKey' as key from longshore.job_blocked
        where (queue_id, meta ->> 'concurrencyKey') > (wanted.queue_id, wanted.key)
        order by queue_id, meta ->> 'concurrencyKey' limit 1
      ) as next
    )
    insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
    select wanted.queue_id, wanted.id, 'enqueued', 'enqueued', jsonb_build_object('concurrencyKey', wanted.key)
    from wanted
    cross join lateral (${taken('wanted.queue_id')}) as taken
    cross join lateral (${nextBlocked('wanted.queue_id', `${limitOf} as jobs`, '1')}) as allowed
    where taken.jobs < allowed.jobs
    returning 1`,
  `
    with taken as materialized (
      select queue_id, meta ->> 'concurrencyKey' as key, count(*) as jobs from longshore.job
      where queue_id > 0 and meta ? 'concurrencyKey' group by queue_id, meta ->> 'concurrencyKey'
    ),
    blocked as materialized (
      select distinct on (queue_id, meta ->> 'concurrencyKey') queue_id, id, meta ->> 'concurrencyKey' as key,
        case when jsonb_typeof(meta -> 'concurrencyLimit') = 'number'
          then least(greatest((meta -> 'concurrencyLimit')::numeric, 1), 10000)::integer else 1 end as allowed
      from longshore.job_blocked where queue_id > 0 order by queue_id, meta ->> 'concurrencyKey', priority, seq
    ),
    room as materialized (
      select blocked.queue_id, blocked.id, blocked.key
      from blocked left join taken on taken.queue_id = blocked.queue_id and taken.key = blocked.key
      where coalesce(taken.jobs, 0) < blocked.allowed
    ),
    noted as (
      insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
      select queue_id, id, 'enqueued'::longshore.job_state, 'enqueued'::longshore.job_state, jsonb_build_object('concurrencyKey', key)
      from room
    )
    select 1 from room`,
);
