import { type ClaimRequest, maxTokens, QueuePollTimers, readyIn } from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { Notifier } from '../notifications/notifier.js';
import { claimWithinLimits, type LimitedClaimedRow, lockBucket, makeBucket } from './claims.sql.js';

/** Claims jobs from queues that have limits, and remembers which queues these are. */
export class LimitedQueues {
  readonly #database: Database;
  readonly #notifier: Notifier;
  readonly #alarms: QueuePollTimers;
  readonly #limited = new Set<string>();
  readonly #full = new Set<string>();

  constructor(database: Database, notifier: Notifier) {
    this.#database = database;
    this.#notifier = notifier;
    this.#alarms = new QueuePollTimers((queue) => void notifier.notifyLocally(readyIn(queue)));
  }

  has(queue: string): boolean {
    return this.#limited.has(queue);
  }

  /** Records whether a queue has limits. */
  note(queue: string, limited: boolean): void {
    if (limited) this.#limited.add(queue);
    else {
      this.#limited.delete(queue);
      this.#full.delete(queue);
    }
  }

  /**
   * Returns whether the last claim took all jobs that the request and the limits allowed. Also true if they allowed
   * none, because the queue is paused or at its limits. Another scan is then pointless.
   */
  isFull(queue: string): boolean {
    return this.#full.has(queue);
  }

  /**
   * Claims as many of the requested jobs as the limits allow.
   *
   * @param values the parameters of {@link claimWithinLimits}
   */
  async claim(
    { queue, serverId }: ClaimRequest,
    values: readonly [queueId: number, ...rest: unknown[]],
  ): Promise<LimitedClaimedRow[]> {
    const rows = await this.#database.transaction(
      async (client) => {
        await this.#database.lockQueues(client, [values[0]]);
        const { rowCount } = await client.query(lockBucket, [values[0]]);
        if (rowCount === 0) await client.query(makeBucket, [values[0], maxTokens]);
        const claimed = await client.query<LimitedClaimedRow>(claimWithinLimits, [...values]);
        return claimed.rows;
      },
      { application_name: this.#database.schema.transactionName(serverId) },
    );
    const [first] = rows;
    if (first === undefined) return rows;
    const claimed = first.id === null ? 0 : rows.length;
    if (claimed === first.room) this.#full.add(queue);
    else this.#full.delete(queue);
    // Notifies this process when the next token becomes available, because no other notification announces it.
    if (first.token_in !== null && first.token_in > 0) this.#alarms.set(queue, first.token_in);
    return rows;
  }

  /** Notifies servers of those `queues` that have limits, because an ended job can make room for another. */
  ended(queues: Iterable<string>): void {
    for (const queue of queues) if (this.#limited.has(queue)) this.#notifier.notify(readyIn(queue));
  }

  close(): void {
    this.#alarms.close();
  }
}
