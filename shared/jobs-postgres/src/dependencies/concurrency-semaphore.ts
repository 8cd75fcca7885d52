import {
  admissible,
  afterAdmission,
  maxTokens,
  type Notification,
  readRate,
  readyIn,
} from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { DependencyResolver, ResolveOptions } from './outbox-relay.js';
import type { OutboxRow } from '../jobs/outbox.sql.js';
import {
  lockKeys,
  nobody,
  type RatedKeyRow,
  readRatedKey,
  saveKeyRate,
  selectBlocked,
  unblockFirst,
  unblockJobs,
  type UnblockedRow,
} from './concurrency-keys.sql.js';

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
      if (unblocked.some(({ jobs }) => jobs > 0))
        notifications.push(readyIn(await this.#queues.nameOf(queueId)));
      const inMs = Math.min(...unblocked.map(({ nextInMs }) => nextInMs));
      if (inMs < Infinity) notifications.push({ kind: 'due', inMs });
    }
    return notifications;
  }
}

interface Unblocked {
  readonly jobs: number;
  /** Milliseconds until the rate of a key lets the next blocked job become ready; `Infinity` if none waits for one. */
  readonly nextInMs: number;
}

/** Makes as many blocked jobs ready as these keys have room for. */
async function unblock(client: Connection, queueId: number, keys: readonly string[]): Promise<Unblocked> {
  await client.query(lockKeys, [queueId, keys]);
  const { rows } = await client.query<{ unblocked: number; rated: string[] }>(unblockJobs, [queueId, keys]);
  let { unblocked: jobs = 0, rated = [] } = rows[0] ?? {};
  let nextInMs = Infinity;
  for (const key of rated) {
    const ofKey = await unblockWithinRate(client, queueId, key);
    jobs += ofKey.jobs;
    nextInMs = Math.min(nextInMs, ofKey.nextInMs);
  }
  return { jobs, nextInMs };
}

/** Makes blocked jobs of a key ready within its limit and its rate, and records when the next ones can follow. */
async function unblockWithinRate(client: Connection, queueId: number, key: string): Promise<Unblocked> {
  const { rows } = await client.query<RatedKeyRow>(readRatedKey, [queueId, key]);
  const [row] = rows;
  if (row === undefined) return { jobs: 0, nextInMs: Infinity };
  // An invalid rate limits nothing, or its jobs would never run.
  const rate = readRate(row.rate) ?? { jobs: maxTokens, periodMs: 1, burst: maxTokens };
  const state = {
    rate,
    nowMs: row.now_ms,
    fullAtMs: row.full_at_ms,
    slots: row.allowed - row.taken,
    unclaimed: row.unclaimed,
  };
  const most = admissible(state);
  const { rows: ready } =
    most === 0 ? { rows: [] } : await client.query<UnblockedRow>(unblockFirst, [queueId, key, most]);
  const jobs = ready[0]?.unblocked ?? 0;
  const { fullAtMs, nextAtMs } = afterAdmission(state, jobs);
  const hasMore =
    jobs === most && (most === 0 || (await client.query(selectBlocked, [queueId, key])).rows.length > 0);
  const wakeAtMs = hasMore ? nextAtMs : null;
  await client.query(saveKeyRate, [queueId, key, fullAtMs, wakeAtMs]);
  return { jobs, nextInMs: wakeAtMs === null ? Infinity : wakeAtMs - row.now_ms };
}

/** Returns an outbox row whose only effect is that the relay checks this key for free slots. */
function keyCheck(queueId: number, concurrencyKey: string): OutboxRow {
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
