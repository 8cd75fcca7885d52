import type { ReadyJobs } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { findUnclaimed } from './notification-payload.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';

/** Time between two looks at the offered jobs, in milliseconds. */
const lookEveryMs = 100;
/** How long a server has at least to claim the jobs that were offered to it, in milliseconds. */
const claimMs = 50;

interface Offer {
  readonly jobs: ReadyJobs;
  readonly atMs: number;
}

/**
 * The jobs that were each offered to a single server. Looks a little later whether they were claimed, because that
 * server may be dead or frozen, or have no free slot any more.
 */
export class Offers {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #onUnclaimed: (queue: string) => void;
  #offers: readonly Offer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<unknown> = Promise.resolve();

  /** @param onUnclaimed called with the queue of jobs that nobody has claimed in time */
  constructor(database: Database, queues: QueueIdCache, onUnclaimed: (queue: string) => void) {
    this.#database = database;
    this.#queues = queues;
    this.#onUnclaimed = onUnclaimed;
  }

  add(jobs: ReadyJobs): void {
    this.#offers = [...this.#offers, { jobs, atMs: performance.now() }];
    this.#plan();
  }

  /** Forgets jobs of which all servers have been notified after all. */
  delete(jobs: ReadyJobs): void {
    this.#offers = this.#offers.filter((offer) => offer.jobs !== jobs);
  }

  /** Looks at all jobs now. Resolves after that. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#looking;
    await this.#look(Infinity);
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#looking = this.#look(performance.now() - claimMs);
      if (this.#offers.length > 0) this.#plan();
    }, lookEveryMs);
  }

  /** Looks whether the jobs that were offered up to a time are claimed. */
  async #look(untilMs: number): Promise<void> {
    const ids = new Map<string, string[]>();
    for (const { jobs, atMs } of this.#offers)
      if (atMs <= untilMs) ids.set(jobs.queue, [...(ids.get(jobs.queue) ?? []), ...(jobs.ids ?? [])]);
    this.#offers = this.#offers.filter(({ atMs }) => atMs > untilMs);
    await Promise.all(
      Array.from(ids, async ([queue, offered]) => {
        if (!(await this.#areClaimed(queue, offered))) this.#onUnclaimed(queue);
      }),
    );
  }

  /** Returns `false` if it cannot be known, because it does no harm to notify servers of nothing. */
  async #areClaimed(queue: string, ids: readonly string[]): Promise<boolean> {
    try {
      const queueId = await this.#queues.idOf(queue);
      return (await this.#database.query(findUnclaimed, [queueId, arrayOf(ids)])).length === 0;
    } catch {
      return false;
    }
  }
}
