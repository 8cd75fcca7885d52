import { type Notification, readyIn } from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { DependencyResolver, ResolveOptions } from './outbox-relay.js';
import { unblockJobs, lockKeys } from './concurrency-semaphore.sql.js';
import type { OutboxRow } from '../jobs/outbox.sql.js';

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
