import { type EnqueueRequest, type JobStorage, ReadTimeoutError } from '@longshore/jobs';
import { apiError } from '@longshore/resources';

/** How long a count is reused, in milliseconds. */
const countMaxAgeMs = 1_000;

/** Number of cached queues at which the cache is cleared. */
const maxQueues = 1_000;

interface Count {
  /** The number of ready jobs when they were counted, plus the jobs admitted since. */
  jobs: number;
  readonly untilMs: number;
}

/**
 * Rejects jobs that would give a queue too many ready jobs. The ready jobs of a queue are counted at most once a
 * second. Jobs admitted between two counts are added to the earlier count.
 */
export class Backlog {
  readonly #storage: Pick<JobStorage, 'jobs'>;
  readonly #maxReadyJobs: number;
  readonly #now: () => number;
  readonly #counts = new Map<string, Promise<Count>>();

  /**
   * @param maxReadyJobs maximum number of ready jobs in a queue; `Infinity` for no limit
   * @param now returns milliseconds of a monotonic clock
   */
  constructor(
    storage: Pick<JobStorage, 'jobs'>,
    maxReadyJobs: number,
    now: () => number = () => performance.now(),
  ) {
    this.#storage = storage;
    this.#now = now;
    this.#maxReadyJobs = maxReadyJobs;
  }

  /** @throws {ApiError} 42901 if a queue would have too many ready jobs; in that case, no job is admitted */
  async admit(requests: readonly EnqueueRequest[]): Promise<void> {
    if (this.#maxReadyJobs === Infinity) return;
    const coming = new Map<string, number>();
    for (const { definition, options } of requests) {
      const queue = options?.queue ?? definition.queue;
      coming.set(queue, (coming.get(queue) ?? 0) + 1);
    }
    const admitted = await Promise.all(
      [...coming].map(async ([queue, jobs]) => ({ queue, jobs, count: await this.#current(queue) })),
    );
    const full = admitted.find(({ jobs, count }) => count.jobs + jobs > this.#maxReadyJobs);
    if (full !== undefined) {
      const message = `The queue "${full.queue}" has ${full.count.jobs} ready jobs; its limit is ${this.#maxReadyJobs}`;
      throw apiError(42901, message, { 'retry-after': '1' });
    }
    for (const { jobs, count } of admitted) count.jobs += jobs;
  }

  /**
   * Returns the cached count of a queue. Counts the jobs first if no count is cached or the cached one has expired.
   * Concurrent callers share one count.
   */
  async #current(queue: string): Promise<Count> {
    const known = this.#counts.get(queue);
    const before = known === undefined ? undefined : await known;
    if (before !== undefined && before.untilMs > this.#now()) return before;
    if (this.#counts.get(queue) !== known) return this.#current(queue); // another caller has started to count
    if (this.#counts.size >= maxQueues) this.#counts.clear();
    const counting = this.#count(queue, before?.jobs ?? 0);
    this.#counts.set(queue, counting);
    counting.catch(() => this.#counts.delete(queue));
    return counting;
  }

  /** Counts the ready jobs of a queue. If counting times out, uses `before` instead. */
  async #count(queue: string, before: number): Promise<Count> {
    const jobs = await this.#storage.jobs.count({ queue: [queue], state: ['enqueued'] }).then(
      ({ count }) => count,
      (error: unknown) => {
        if (error instanceof ReadTimeoutError) return before;
        throw error;
      },
    );
    return { jobs, untilMs: this.#now() + countMaxAgeMs };
  }
}
