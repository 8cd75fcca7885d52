import {
  checkQueueLimits,
  type ClaimRequest,
  maxTokens,
  QueueAlarms,
  type QueueLimits,
  type QueueSettings,
} from '@longshore/jobs';
import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../connection/queue-id-cache.js';
import { limitQueue } from '../control/queues.sql.js';
import { transactionName } from '../control/servers.sql.js';
import type { Notifier } from '../connection/notifier.js';
import { claimWithinLimits, type LimitedClaimedRow, lockBucket, makeBucket } from './claims.sql.js';

/** What the statements that set something of a queue compare with. */
export function seenValues(seen: QueueSettings | undefined): unknown[] {
  if (seen === undefined) return [false, null, null, null];
  return [true, seen.pausedAt !== null, seen.concurrencyLimit, seen.rateLimit];
}

/** Which queues have limits, as far as this process knows, and how to claim from them. */
export class LimitedQueues {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #notifier: Notifier;
  readonly #alarms: QueueAlarms;
  readonly #limited = new Set<string>();
  readonly #full = new Set<string>();

  constructor(database: Database, queues: QueueIdCache, notifier: Notifier) {
    this.#database = database;
    this.#queues = queues;
    this.#notifier = notifier;
    this.#alarms = new QueueAlarms((queue) => notifier.notifyLocally(queue));
  }

  /** Sets or takes away limits, if the queue's settings are those seen. */
  async limit(name: string, limits: QueueLimits, seen?: QueueSettings): Promise<boolean> {
    const { concurrencyLimit, rateLimit } = checkQueueLimits(limits);
    const changed = await this.#database.query(limitQueue, [
      await this.#queues.idOf(name),
      concurrencyLimit !== undefined,
      concurrencyLimit ?? null,
      rateLimit !== undefined,
      rateLimit ?? null,
      maxTokens,
      ...seenValues(seen),
    ]);
    this.#notifier.notify(name);
    return changed.length > 0;
  }

  has(queue: string): boolean {
    return this.#limited.has(queue);
  }

  /** A claim found out whether the queue has limits. */
  note(queue: string, limited: boolean): void {
    if (limited) this.#limited.add(queue);
    else {
      this.#limited.delete(queue);
      this.#full.delete(queue);
    }
  }

  /** Whether the last claim took all that the limits allowed: to look further is in vain. */
  isFull(queue: string): boolean {
    return this.#full.has(queue);
  }

  /** Claims as many of the jobs asked for as the limits allow. */
  async claim(
    { queue, serverId }: ClaimRequest,
    values: readonly [queueId: number, ...rest: unknown[]],
  ): Promise<LimitedClaimedRow[]> {
    const rows = await this.#database.transaction(
      async (client) => {
        await this.#database.lockQueues(client, [values[0]]);
        const { rowCount } = await client.query({ ...lockBucket, values: [values[0]] });
        if (rowCount === 0) await client.query({ ...makeBucket, values: [values[0], maxTokens] });
        const claimed = await client.query<LimitedClaimedRow>({
          ...claimWithinLimits,
          values: [...values],
        });
        return claimed.rows;
      },
      { application_name: transactionName(serverId) },
    );
    const [first] = rows;
    if (first === undefined) return rows;
    const claimed = first.id === null ? 0 : rows.length;
    if (claimed === first.room) this.#full.add(queue);
    else this.#full.delete(queue);
    // Nothing else tells of a token that comes.
    if (first.token_in !== null && first.token_in > 0) this.#alarms.set(queue, first.token_in);
    return rows;
  }

  /** Jobs of these queues ended: there may be room for others, here and elsewhere. */
  ended(queues: Iterable<string>): void {
    for (const queue of queues) if (this.#limited.has(queue)) this.#notifier.notify(queue);
  }

  close(): void {
    this.#alarms.close();
  }
}
