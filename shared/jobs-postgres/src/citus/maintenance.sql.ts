import { fromNow } from '../connection/from-now.sql.js';
import { isPaused } from '../queues/pause.sql.js';
import { liveTables } from '../jobs/job-columns.sql.js';
import { withReplacements, type Forms, replacedBy } from './form.js';

/** A CTE that selects the unfinished jobs among the ids in the CTE `last`. */
const busy = `
    busy as materialized (
      select id from (${liveTables.map((table) => `select id from longshore.${table} where id = any ((select ids from last)::uuid[]) and queue_id in (select id from longshore.queue)`).join(' union all ')}) as unfinished
    )`;

const inTurn = `turn as materialized (
      select pg_try_advisory_xact_lock(longshore.lock_key('job_count')) as mine
    )`;

/**
 * Folds the counters only if no other process is folding them. Citus cannot skip locked rows when it searches all
 * shards.
 */
const foldCounts = withReplacements(
  ['with folded as', `with ${inTurn},\n    folded as`],
  [
    'where ctid = any (array(select ctid from longshore.job_count for update skip locked))',
    'where (select mine from turn)',
  ],
);

const recordKeysWithRoom = replacedBy(`
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
    select 1 from room`);

const holding = `
    holding as materialized (
      select queue_id as id from longshore.job_count where state in ('scheduled', 'awaiting', 'enqueued', 'processing')
      group by queue_id having sum(jobs) > 0
    ),
    served as materialized (select unnest(queues) as name from longshore.server)`;

const retireQueue = replacedBy(`
    with ${holding},
    setting as materialized (
      select id, name, retired_at, paused_at, paused_until, concurrency_limit, rate_limit, ${isPaused} as paused
      from longshore.queue where name = $1
    ),
    found as materialized (
      select id, id in (select id from holding) as holds_jobs, name in (select name from served) as served, paused_at, paused_until,
        not $2::boolean or (paused = $3::boolean and concurrency_limit is not distinct from $4::integer
          and rate_limit is not distinct from $5::jsonb) as as_seen, concurrency_limit, rate_limit
      from setting where retired_at is null or id in (select id from holding) or name in (select name from served)
    ),
    leaving as materialized (select * from found where not holds_jobs and not served and as_seen),
    retired as (
      update longshore.queue
      set retired_at = now(), idle_since = null, paused_at = null, paused_by = null, pause_reason = null, paused_until = null,
        concurrency_limit = null, rate_limit = null
      from leaving
      where queue.id = leaving.id and queue.paused_at is not distinct from leaving.paused_at
        and queue.paused_until is not distinct from leaving.paused_until
        and queue.concurrency_limit is not distinct from leaving.concurrency_limit
        and queue.rate_limit is not distinct from leaving.rate_limit
      returning queue.id
    )
    select holds_jobs, served, exists (select 1 from retired) as retired from found`);

const returnQueues = replacedBy(`
    with ${holding},
    in_use as materialized (
      select id from longshore.queue
      where retired_at is not null and (id in (select id from holding) or name in (select name from served))
    )
    update longshore.queue set retired_at = null, idle_since = null from in_use where queue.id = in_use.id`);

const retireIdleQueues = replacedBy(`
    with ${holding},
    ended as materialized (select queue_id as id, max(at) as at from longshore.throughput group by queue_id),
    looked_at as materialized (
      select queue.id, queue.idle_since, queue.paused_at is null and queue.concurrency_limit is null and queue.rate_limit is null
        and queue.id not in (select id from holding) and queue.name not in (select name from served)
        and queue.name not in (select recurring_job.queue from longshore.recurring_job)
        and not coalesce(ended.at > queue.idle_since, false) as idle
      from (select * from longshore.queue where retired_at is null) as queue left join ended on ended.id = queue.id
    ),
    due as materialized (
      select id, idle, idle_since, idle and coalesce(idle_since <= now() - $1 * interval '1 day', false) as retires
      from looked_at
    ),
    change as materialized (
      select id, idle_since, case when idle and not retires then now() end as new_idle_since, case when retires then now() end as retired_at
      from due where retires or idle <> (idle_since is not null)
    )
    update longshore.queue set idle_since = change.new_idle_since, retired_at = change.retired_at
    from change
    where queue.id = change.id and queue.retired_at is null and queue.idle_since is not distinct from change.idle_since`);

/**
 * Finds skipped jobs with a function, because Citus does not support recursive queries across nodes. The function
 * searches one generation of dependents at a time.
 */
const skipped = withReplacements([
  /with recursive\s+found \(id, is_batch\) as \([\s\S]*?related\.id is not null\s+\)/,
  'with found as materialized (select id, is_batch from longshore.skipped_because_of($1::uuid[]))',
]);

/**
 * Reads the ranges of the gaps in a separate CTE. The gaps are then inserted on the coordinator, with the transaction
 * id of the coordinator.
 */
const resumeType = withReplacements(
  [
    /gap as \(\s+insert into longshore\.scan_gap \(queue_id, priority, first_seq, last_seq\)/,
    'places as materialized (',
  ],
  [
    'select queue_id, priority, min(seq), max(seq) from',
    'select queue_id, priority, min(seq) as first_seq, max(seq) as last_seq from',
  ],
  [
    'returning queue_id',
    `),
    gap as (
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
      select queue_id, priority, first_seq, last_seq from places
      returning queue_id`,
  ],
);

/**
 * Reads the unresolved dependencies in a separate CTE, because dependencies are stored on the coordinator and jobs on
 * the nodes. The caller has already locked the jobs, so nothing changes between the two reads.
 */
const releaseAwaiting = withReplacements([
  /with removed as \(\s+delete from longshore\.job_awaiting[\s\S]*?as due\s+\)/,
  `with open as materialized (
      select coalesce(array_agg(child_id), '{}') as ids from longshore.job_dependency
      where child_id = any($2::uuid[]) and case when resolved_at is null then true end
    ),
    deleted as (
      delete from longshore.job_awaiting
      where queue_id = $1 and id = any($2::uuid[]) and id <> all ((select ids from open)::uuid[])
      returning *
    ),
    removed as materialized (
      select *, coalesce(run_at, ${fromNow('delay_ms')}) as due from deleted
    )`,
]);

/**
 * Citus forms of statements for counters, concurrency keys, queues, job types, dependencies, reports, the outbox and
 * recurring jobs.
 */
export const maintenanceForms: Forms = {
  'longshore-fold-counts': foldCounts,
  'longshore-record-keys-with-room': recordKeysWithRoom,
  'longshore-retire-queue': retireQueue,
  'longshore-return-queues': returnQueues,
  'longshore-retire-idle-queues': retireIdleQueues,
  'longshore-count-skipped': skipped,
  'longshore-restore-skipped': skipped,
  'longshore-resume-type': resumeType,
  'longshore-resume-type-when-due': resumeType,
  'longshore-release-awaiting': releaseAwaiting,
  // Batches are read without locks.
  'longshore-lock-unsuccessful': replacedBy(
    `select id, null::longshore.job_state as state from longshore.lock_unsuccessful($1::uuid[]) as id
     union all
     select id, case when failed > 0 then 'failed' else 'cancelled' end::longshore.job_state as state
     from longshore.batch where id = any($1::uuid[]) and finished_at is not null and failed + cancelled > 0`,
  ),
  'longshore-pause-type': withReplacements(['paused_at = now()', 'paused_at = excluded.paused_at']),
  'longshore-insert-reports': withReplacements(['written_at = now()', 'written_at = excluded.written_at']),
  'longshore-take-outbox-entries': replacedBy('select * from longshore.take_outbox_entries($1)'),
  'longshore-take-unmarked-dependencies': replacedBy(
    'select * from longshore.take_unmarked_dependencies($1, $2)',
  ),
  'longshore-lock-due-recurring': withReplacements(
    [
      'select *, args::text',
      `with last as materialized (
      select array_agg(last_job_id) as ids from longshore.recurring_job where next_due_at <= now() and overlap = 'wait'
    ), ${busy}
    select *, args::text`,
    ],
    [
      /not exists \(\s+select 1 from longshore.queue cross join lateral[\s\S]*?as unfinished\s+\)/,
      '(last_job_id is null or last_job_id not in (select id from busy))',
    ],
  ),
  'longshore-select-busy-recurring': replacedBy(`
    with last as materialized (select array_agg(last_job_id) as ids from longshore.recurring_job where id = any($1::text[])), ${busy}
    select id from longshore.recurring_job where id = any($1::text[]) and last_job_id in (select id from busy)`),
};
