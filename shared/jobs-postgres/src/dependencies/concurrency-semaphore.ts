import { bounds, type Notification, readyIn } from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { DependencyResolver, ResolveOptions } from './outbox-relay.js';
import type { OutboxRow } from '../jobs/outbox.sql.js';
import { jobColumns } from '../jobs/job-columns.sql.js';
import { prepared } from '../connection/statement.js';

/**
 * Makes blocked jobs ready when their concurrency key has room. Checks a key whenever a job with this key arrives or
 * ends.
 */
export class ConcurrencySemaphore implements DependencyResolver {
  readonly #queues: QueueIdCache;

  constructor(queues: QueueIdCache) {
    this.#queues = queues;
  }

  async resolve(
    client: Connection,
    entries: readonly OutboxRow[],
    { isolate, setAside }: ResolveOptions,
  ): Promise<Iterable<Notification>> {
    const notifications: Notification[] = [];
    // Handles queues in the order of their ids, because locking keys in a fixed order avoids deadlocks. `lockKeys`
    // orders the keys of a queue.
    for (const [queueId, keys] of [...keysByQueue(entries)].toSorted(([left], [right]) => left - right)) {
      const unblocked = await isolate(
        [...keys],
        (some) => unblock(client, queueId, some),
        (key, error) =>
          setAside({ key: `key ${queueId} ${key}`, queueId, item: [keyCheck(queueId, key)] }, error),
      );
      if (unblocked.some((jobs) => jobs > 0)) notifications.push(readyIn(await this.#queues.nameOf(queueId)));
    }
    return notifications;
  }
}

/** Makes as many blocked jobs ready as these keys have room for, and resolves to the number of jobs. */
async function unblock(client: Connection, queueId: number, keys: readonly string[]): Promise<number> {
  await client.query(lockKeys, [queueId, keys]);
  const { rows } = await client.query<{ unblocked: number }>(unblockJobs, [queueId, keys]);
  return rows[0]?.unblocked ?? 0;
}

/** Returns an outbox row whose only effect is that the relay checks this key for free slots. */
function keyCheck(queueId: number, concurrencyKey: string): OutboxRow {
  const nobody = '00000000-0000-0000-0000-000000000000';
  const meta = { concurrencyKey };
  return { queue_id: queueId, job_id: nobody, from_state: 'enqueued', to_state: 'enqueued', meta };
}

function keysByQueue(entries: readonly OutboxRow[]): Map<number, Set<string>> {
  const groups = new Map<number, Set<string>>();
  for (const { queue_id: queueId, meta } of entries) {
    if (meta.concurrencyKey === undefined) continue;
    const keys = groups.get(queueId);
    if (keys === undefined) groups.set(queueId, new Set([meta.concurrencyKey]));
    else keys.add(meta.concurrencyKey);
  }
  return groups;
}

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
    with admissible as materialized (
      select candidate.id
      from unnest($2::text[]) as wanted (key)
      cross join lateral (${taken('$1')}) as taken
      cross join lateral (${nextBlocked('$1', `${limitOf} as jobs`, '1')}) as allowed
      cross join lateral (
        select id, bool_and(place <= own_limit) over (order by place) as fits
        from (
          select id, own_limit, taken.jobs + row_number() over (order by priority, seq) as place
          from (${nextBlocked('$1', `id, priority, seq, ${limitOf} as own_limit`, 'greatest(0, allowed.jobs - taken.jobs)')}) as next
        ) as next
      ) as candidate
      where candidate.fits
    ),
    unblocked as (
      delete from longshore.job_blocked using admissible
      where job_blocked.queue_id = $1 and job_blocked.id = admissible.id
      returning job_blocked.*
    ),
    ready as (
      insert into longshore.job (${jobColumns}) select ${jobColumns} from unblocked order by priority, seq
    )
    select count(*)::integer as unblocked from unblocked`,
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
