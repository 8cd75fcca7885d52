import type { TransactionClient } from '@longshore/jobs';
import type {
  Queue,
  QueueDeletion,
  QueueLimits,
  Queues,
  QueueSettings,
  Server,
  StateCounts,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { type LimitedQueues, seenValues } from '../claim/limited-queues.js';
import { noCounts, type PostgresCounters } from '../read/counters.js';
import type { QueueIdCache, QueueRow } from '../connection/queue-id-cache.js';
import { onceCommitted, runOf } from '../connection/run.js';
import { QueueHeads } from '../read/queue-heads.js';
import type { Notifier } from '../connection/notifier.js';
import { pauseQueue, resumeQueue, type RetiredRow, retireQueue } from './queues.sql.js';
import { selectServers, type ServerRow, toServer } from './servers.sql.js';

interface QueuesParts {
  readonly database: Database;
  /** The connections for reads. */
  readonly reads: Database;
  readonly queues: QueueIdCache;
  readonly counters: PostgresCounters;
  readonly limits: LimitedQueues;
  readonly notifier: Notifier;
}

/** Lists and controls queues. */
export class PostgresQueues implements Queues {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #queues: QueueIdCache;
  readonly #counters: PostgresCounters;
  readonly #limits: LimitedQueues;
  readonly #notifier: Notifier;
  readonly #heads: QueueHeads;

  constructor({ database, reads, queues, counters, limits, notifier }: QueuesParts) {
    this.#database = database;
    this.#reads = reads;
    this.#queues = queues;
    this.#counters = counters;
    this.#limits = limits;
    this.#notifier = notifier;
    this.#heads = new QueueHeads(reads);
  }

  async find(name: string, transaction?: TransactionClient): Promise<Queue | null> {
    const row = await this.#queues.find(name, transaction);
    return row === undefined ? null : ((await this.#toQueues([row], row.id))[0] ?? null);
  }

  list(): Promise<Queue[]> {
    return this.#toQueues(this.#queues.all());
  }

  async pause(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean> {
    const run = runOf(this.#database, transaction);
    const queueId = await this.#queues.idOf(name);
    return (await run(pauseQueue, [queueId, ...seenValues(seen)])).length > 0;
  }

  async resume(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean> {
    const run = runOf(this.#database, transaction);
    const queueId = await this.#queues.idOf(name);
    const resumed = await run(resumeQueue, [queueId, ...seenValues(seen)]);
    onceCommitted(transaction, () => this.#notifier.notify(name));
    return resumed.length > 0;
  }

  limit(name: string, limits: QueueLimits, seen?: QueueSettings): Promise<boolean> {
    return this.#limits.limit(name, limits, seen);
  }

  async delete(name: string, seen?: QueueSettings): Promise<QueueDeletion> {
    const [row] = await this.#database.query<RetiredRow>(retireQueue, [name, ...seenValues(seen)]);
    if (row === undefined) return 'unknown';
    if (row.holds_jobs) return 'holds-jobs';
    if (row.served) return 'served';
    return row.retired ? 'deleted' : 'changed';
  }

  /** @param queueId id of the only queue; `null` for all */
  async #toQueues(
    rows: readonly QueueRow[] | Promise<readonly QueueRow[]>,
    queueId: number | null = null,
  ): Promise<Queue[]> {
    const [queues, counts, oldest, servers] = await Promise.all([
      rows,
      this.#counters.byQueue(queueId === null ? undefined : [queueId]),
      this.#heads.oldestReady(queueId),
      this.#reads.query<ServerRow>(selectServers),
    ]);
    return queues.map((row) =>
      toQueue(row, {
        counts: counts.get(row.id) ?? noCounts(),
        oldestEnqueuedAt: oldest.get(row.id) ?? null,
        servers: servers.map(toServer),
      }),
    );
  }
}

/** Facts about a queue that are not in its row. */
export interface QueueFacts {
  readonly counts: StateCounts;
  readonly oldestEnqueuedAt: Date | null;
  /** All registered servers. */
  readonly servers: readonly Server[];
}

export function toQueue(row: QueueRow, { counts, oldestEnqueuedAt, servers }: QueueFacts): Queue {
  const { name } = row;
  return {
    name,
    pausedAt: row.paused_at,
    concurrencyLimit: row.concurrency_limit,
    rateLimit: row.rate_limit,
    counts,
    oldestEnqueuedAt,
    servers: servers.filter(({ state, queues }) => state === 'running' && queues.includes(name)).length,
    createdAt: row.created_at,
  };
}
