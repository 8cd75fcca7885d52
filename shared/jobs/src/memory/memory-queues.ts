import { isDeepStrictEqual } from 'node:util';
import type { Queue, Server, StateCounts } from '../job/job.js';
import { checkQueueLimits, type QueueLimits } from '../job/queue-limits.js';
import { isFinished } from '../job/state.js';
import type { Clock } from '../storage/clock.js';
import type { QueueDeletion, Queues, QueueSettings } from '../storage/queues.js';
import type { TransactionClient } from '../storage/transaction.js';
import { countStates } from './memory-job-reader.js';
import type { MemoryJobs } from './memory-jobs.js';
import type { MemoryServers } from './memory-servers.js';
import type { QueueRecord } from './queue-records.js';
import { refuseTransaction } from './refuse-transaction.js';

/** The queues of one process. */
export class MemoryQueues implements Queues {
  readonly #jobs: MemoryJobs;
  readonly #servers: MemoryServers;
  readonly #clock: Clock;

  constructor(jobs: MemoryJobs, servers: MemoryServers, clock: Clock) {
    this.#jobs = jobs;
    this.#servers = servers;
    this.#clock = clock;
  }

  async find(name: string): Promise<Queue | null> {
    const queue = this.#jobs.queues.get(name);
    if (queue === undefined) return null;
    return toQueue(
      name,
      queue,
      countStates([...this.#jobs.all()].filter((job) => job.queue === name)),
      this.#running(),
    );
  }

  async list(): Promise<Queue[]> {
    const counts = new Map<string, StateCounts>();
    for (const name of this.#jobs.queues.keys()) counts.set(name, countStates([]));
    for (const { queue, state } of this.#jobs.all()) {
      const counted = counts.get(queue);
      if (counted !== undefined) counted[state]++;
    }
    const running = this.#running();
    return [...this.#jobs.queues]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, queue]) => toQueue(name, queue, counts.get(name) ?? countStates([]), running));
  }

  async pause(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean> {
    refuseTransaction(transaction);
    const queue = this.#jobs.queue(name);
    if (!isAsSeen(queue, seen)) return false;
    queue.pausedAt ??= new Date(this.#clock.now());
    return true;
  }

  async resume(name: string, seen?: QueueSettings, transaction?: TransactionClient): Promise<boolean> {
    refuseTransaction(transaction);
    const queue = this.#jobs.queue(name);
    if (!isAsSeen(queue, seen)) return false;
    queue.pausedAt = null;
    this.#jobs.notify(name);
    return true;
  }

  async limit(name: string, limits: QueueLimits, seen?: QueueSettings): Promise<boolean> {
    const { concurrencyLimit, rateLimit } = checkQueueLimits(limits);
    const queue = this.#jobs.queue(name);
    if (!isAsSeen(queue, seen)) return false;
    if (concurrencyLimit !== undefined) queue.concurrencyLimit = concurrencyLimit;
    if (rateLimit !== undefined) queue.rateLimit = rateLimit;
    this.#jobs.notify(name);
    return true;
  }

  async delete(name: string, seen?: QueueSettings): Promise<QueueDeletion> {
    const queue = this.#jobs.queues.get(name);
    if (queue === undefined) return 'unknown';
    if ([...this.#jobs.all()].some((record) => record.queue === name && !isFinished(record.state)))
      return 'holds-jobs';
    if (this.#servers.all().some(({ queues }) => queues.includes(name))) return 'served';
    if (!isAsSeen(queue, seen)) return 'changed';
    this.#jobs.retireQueue(name);
    return 'deleted';
  }

  #running(): Server[] {
    return this.#servers.all().filter(({ state }) => state === 'running');
  }
}

function toQueue(name: string, queue: QueueRecord, counts: StateCounts, running: readonly Server[]): Queue {
  const { createdAt, pausedAt, ready, concurrencyLimit, rateLimit } = queue;
  const oldest = ready.oldestReadyAt;
  return {
    name,
    counts,
    pausedAt,
    concurrencyLimit,
    rateLimit: rateLimit === null ? null : { ...rateLimit },
    oldestEnqueuedAt: oldest === undefined ? null : new Date(oldest),
    servers: running.filter(({ queues }) => queues.includes(name)).length,
    createdAt,
  };
}

function isAsSeen(queue: QueueSettings, seen: QueueSettings | undefined): boolean {
  if (seen === undefined) return true;
  const settings = ({ pausedAt, concurrencyLimit, rateLimit }: QueueSettings): object => ({
    paused: pausedAt !== null,
    concurrencyLimit,
    rateLimit,
  });
  return isDeepStrictEqual(settings(queue), settings(seen));
}
