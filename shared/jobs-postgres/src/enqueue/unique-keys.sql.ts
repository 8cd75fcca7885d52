import type { JobState } from '@longshore/jobs';
import { inLiveTables, stateIn } from '../jobs/job-columns.sql.js';
import { prepared } from '../connection/statement.js';

export interface KeyRow {
  namespace: string;
  key: string;
  job_id: string;
  states: JobState[] | null;
  /** Whether the period for which the job holds the key has ended. */
  expired: boolean;
  fingerprint: string | null;
}

const columns = `unnest($2::text[], $3::text[], $4::uuid[], $5::text[], $6::float8[], $7::text[])
      as wanted (namespace, key, job_id, states, period_ms, fingerprint)`;

/**
 * $1 queue; parallel arrays: $2 namespaces, $3 distinct keys, $4 jobs, $5 states, $6 periods in ms, $7 fingerprints.
 * Stores the keys that do not exist yet, and returns all the keys with their holders. Locks all the keys until the
 * transaction ends, in the order of namespace and key to avoid deadlocks. Waits for keys that other transactions have
 * locked.
 */
export const lockUnique = prepared(
  'longshore-lock-unique',
  `
    insert into longshore.job_key as held (queue_id, namespace, key, job_id, states, expires_at, fingerprint)
    select $1, namespace, key, job_id, states::longshore.job_state[], now() + period_ms * interval '1 millisecond', fingerprint
    from ${columns}
    order by namespace collate "C", key collate "C"
    on conflict (queue_id, namespace, key) do update set job_id = held.job_id
    returning namespace, key, job_id, states::text[], coalesce(expires_at <= now(), false) as expired, fingerprint`,
);

/** $1 to $7 as in {@link lockUnique}, which must have locked the keys. Assigns the keys to these jobs. */
export const claimUnique = prepared(
  'longshore-claim-unique',
  `
    update longshore.job_key as held
    set job_id = wanted.job_id, states = wanted.states::longshore.job_state[],
      expires_at = now() + period_ms * interval '1 millisecond', fingerprint = wanted.fingerprint
    from ${columns}
    where held.queue_id = $1 and held.namespace = wanted.namespace and held.key = wanted.key`,
  `
    with wanted as materialized (
      select namespace, key, job_id, states::longshore.job_state[] as states,
        now() + period_ms * interval '1 millisecond' as expires_at, fingerprint
      from unnest($2::text[], $3::text[], $4::uuid[], $5::text[], $6::float8[], $7::text[])
        as wanted (namespace, key, job_id, states, period_ms, fingerprint)
    )
    update longshore.job_key as held
    set job_id = wanted.job_id, states = wanted.states, expires_at = wanted.expires_at, fingerprint = wanted.fingerprint
    from wanted
    where held.queue_id = $1 and held.namespace = wanted.namespace and held.key = wanted.key`,
);

/**
 * Returns SQL that selects the state of a job, as one row or none. Searches history, which has many partitions, only if
 * the SQL condition `history` is true.
 */
const stateOf = (queueId: string, jobId: string, history: string): string => `
      ${inLiveTables((table) => `select ${stateIn[table]} as state from longshore.${table} where queue_id = ${queueId} and id = ${jobId}`)}
      union all select state from longshore.job_history
      where ${history} and queue_id = ${queueId} and id = ${jobId}
      limit 1`;

export interface HolderRow {
  id: string;
  /** The job's state; `null` if the job was not found in this queue. */
  state: JobState | null;
  /** The queue to which the job was last moved; `null` if the job was found in this queue. */
  moved_to: number | null;
}

/**
 * $1 queue, $2 jobs, $3 for each job, whether to search history too. Returns the states of jobs in this queue, and the
 * queues of jobs that were moved. Omits jobs that were not found. Must run after the keys have been locked, as a
 * separate statement. Only then does the snapshot include jobs that other transactions have committed together with the
 * keys.
 */
export const selectHolders = prepared(
  'longshore-select-holders',
  `
    select holder.id, found.state, moved.queue_id as moved_to
    from unnest($2::uuid[], $3::boolean[]) as holder (id, history)
    left join lateral (${stateOf('$1', 'holder.id', 'holder.history')}) as found on true
    left join longshore.moved_job as moved on moved.job_id = holder.id and found.state is null
    where found.state is not null or moved.queue_id is not null`,
  'select * from longshore.holders_of($1, $2::uuid[], $3::boolean[])',
);

export interface SweptRow {
  queue_id: number;
  namespace: string;
  key: string;
  stale: boolean;
}

/**
 * $1 queue, $2 namespace, $3 key to continue after, $4 limit. Scans up to $4 keys and deletes the stale ones. A key is
 * stale if its period has ended. A key that depends on the job's state is also stale in two cases:
 * - The job no longer exists.
 * - The job is `done`, and the key does not apply in this state.
 *
 * The keys of failed and cancelled jobs are otherwise kept, because a retried job holds the key again. Returns the
 * scanned keys in order.
 */
export const sweepUnique = prepared(
  'longshore-sweep-unique',
  `
    with seen as materialized (
      select held.queue_id, namespace, key, held.job_id, states, expires_at, coalesce(moved.queue_id, held.queue_id) as job_queue_id
      from longshore.job_key as held left join longshore.moved_job as moved on moved.job_id = held.job_id
      where (held.queue_id, namespace, key) > ($1::integer, $2::text, $3::text)
      order by held.queue_id, namespace, key limit $4
    ),
    stale as materialized (
      select seen.* from seen
      where expires_at <= now()
        or states is not null and coalesce((
          select state = 'done' and state <> all (seen.states) from (${stateOf('seen.job_queue_id', 'seen.job_id', 'true')}) as found
        ), true)
    ),
    deleted as (
      delete from longshore.job_key as held using stale
      where held.queue_id = stale.queue_id and held.namespace = stale.namespace and held.key = stale.key
        and held.job_id = stale.job_id and held.expires_at is not distinct from stale.expires_at
    )
    select seen.queue_id, seen.namespace, seen.key, stale.key is not null as stale
    from seen left join stale using (queue_id, namespace, key)
    order by seen.queue_id, seen.namespace, seen.key`,
  'select * from longshore.sweep_unique($1, $2, $3, $4)',
);

/** $1 limit. Deletes the `moved_job` rows of up to $1 jobs that no longer exist, not even in history. */
export const deleteGoneMovedJobs = prepared(
  'longshore-delete-gone-moved-jobs',
  `
    with gone as materialized (
      select job_id, queue_id from longshore.moved_job as moved
      where not exists (${stateOf('moved.queue_id', 'moved.job_id', 'true')}) limit $1
    )
    delete from longshore.moved_job as moved using gone
    where moved.job_id = gone.job_id and moved.queue_id = gone.queue_id`,
  'select longshore.delete_gone_moved_jobs($1)::text',
);
