import type { Queue, QueueLimits, Queues, QueueSettings } from '@longshore/jobs';
import type { Database } from './database.js';
import { type LimitedQueues, seenValues } from './limited-queues.js';
import { noCounts, type PostgresCounters } from './postgres-counters.js';
import type { QueueDirectory, QueueRow } from './queue-directory.js';
import { toQueue } from './queue-row.js';
import { pauseQueue, resumeQueue } from './sql/control-jobs.js';
import { type OldestReadyRow, selectOldestReady, selectOldestReadyOf } from './sql/queue-heads.js';
import { selectServers, type ServerRow, toServer } from './sql/servers.js';
import type { WakeUps } from './wake-ups.js';

interface QueuesParts {
  readonly database: Database;
  /** The connections of reads. */
  readonly reads: Database;
  readonly queues: QueueDirectory;
  readonly counters: PostgresCounters;
  readonly limits: LimitedQueues;
  readonly wakeUps: WakeUps;
}

/** Shows and controls queues. */
export class PostgresQueues implements Queues {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #queues: QueueDirectory;
  readonly #counters: PostgresCounters;
  readonly #limits: LimitedQueues;
  readonly #wakeUps: WakeUps;

  constructor({ database, reads, queues, counters, limits, wakeUps }: QueuesParts) {
    this.#database = database;
    this.#reads = reads;
    this.#queues = queues;
    this.#counters = counters;
    this.#limits = limits;
    this.#wakeUps = wakeUps;
  }

  async find(name: string): Promise<Queue | null> {
    const row = await this.#queues.find(name);
    return row === undefined ? null : ((await this.#toQueues([row], [row.id]))[0] ?? null);
  }

  list(): Promise<Queue[]> {
    return this.#toQueues(this.#queues.all());
  }

  async pause(name: string, seen?: QueueSettings): Promise<boolean> {
    return (await this.#database.query(pauseQueue, [name, ...seenValues(seen)])).length > 0;
  }

  async resume(name: string, seen?: QueueSettings): Promise<boolean> {
    const resumed = await this.#database.query(resumeQueue, [name, ...seenValues(seen)]);
    this.#wakeUps.announce(name);
    return resumed.length > 0;
  }

  limit(name: string, limits: QueueLimits, seen?: QueueSettings): Promise<boolean> {
    return this.#limits.limit(name, limits, seen);
  }

  /** @param queueIds of all of them, unless it is all that there are */
  async #toQueues(
    rows: readonly QueueRow[] | Promise<readonly QueueRow[]>,
    queueIds?: readonly number[],
  ): Promise<Queue[]> {
    const oldestReady = queueIds === undefined ? selectOldestReady : selectOldestReadyOf(queueIds);
    const [queues, counts, oldest, servers] = await Promise.all([
      rows,
      this.#counters.byQueue(queueIds),
      this.#reads.query<OldestReadyRow>(oldestReady, oldestReady.values),
      this.#reads.query<ServerRow>(selectServers),
    ]);
    const oldestById = new Map(oldest.map((row) => [row.id, new Date(row.ready_at)]));
    return queues.map((row) =>
      toQueue(row, {
        counts: counts.get(row.id) ?? noCounts(),
        oldestEnqueuedAt: oldestById.get(row.id) ?? null,
        servers: servers.map(toServer),
      }),
    );
  }
}
