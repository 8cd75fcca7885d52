import { type EnqueueRequest, type JobStorage, ReadTimeoutError } from '@longshore/jobs';
import { apiError } from '@longshore/resources';

/** How long a count holds. */
const holdsMs = 1_000;

/** Counts of more queues than this are not kept. */
const mostQueues = 1_000;

interface Count {
  /** With those that were let in since. */
  jobs: number;
  readonly untilMs: number;
}

/** Lets jobs into a queue as long as not too many are ready there. Each queue is counted once a second at most, by its counters. */
export class Backlog {
  readonly #storage: Pick<JobStorage, 'jobs'>;
  readonly #most: number;
  readonly #counts = new Map<string, Promise<Count>>();

  /** @param most ready jobs in each queue */
  constructor(storage: Pick<JobStorage, 'jobs'>, most: number) {
    this.#storage = storage;
    this.#most = most;
  }

  /** @throws {ApiError} 42901 if one of the queues would be too long; then none of these jobs is to go in */
  async admit(requests: readonly EnqueueRequest[]): Promise<void> {
    if (this.#most === Infinity) return;
    const coming = new Map<string, number>();
    for (const { definition, options } of requests) {
      const queue = options?.queue ?? definition.queue;
      coming.set(queue, (coming.get(queue) ?? 0) + 1);
    }
    const admitted = await Promise.all(
      [...coming].map(async ([queue, jobs]) => ({ queue, jobs, count: await this.#current(queue) })),
    );
    const full = admitted.find(({ jobs, count }) => count.jobs + jobs > this.#most);
    if (full !== undefined) {
      const message = `The queue "${full.queue}" has ${full.count.jobs} ready jobs, and at most ${this.#most} may be there`;
      throw apiError(42901, message, { 'retry-after': '1' });
    }
    for (const { jobs, count } of admitted) count.jobs += jobs;
  }

  /** Callers of the same moment share a count. */
  async #current(queue: string): Promise<Count> {
    const known = this.#counts.get(queue);
    const before = known === undefined ? undefined : await known;
    if (before !== undefined && before.untilMs > performance.now()) return before;
    if (this.#counts.get(queue) !== known) return this.#current(queue); // another caller counts already
    if (this.#counts.size >= mostQueues) this.#counts.clear();
    const counting = this.#count(queue, before?.jobs ?? 0);
    this.#counts.set(queue, counting);
    counting.catch(() => this.#counts.delete(queue));
    return counting;
  }

  /** Reads may be too busy to count: jobs go in all the same, by the count before, or uncounted. */
  async #count(queue: string, before: number): Promise<Count> {
    const jobs = await this.#storage.jobs.count({ queue: [queue], state: ['enqueued'] }).then(
      ({ count }) => count,
      (error: unknown) => {
        if (error instanceof ReadTimeoutError) return before;
        throw error;
      },
    );
    return { jobs, untilMs: performance.now() + holdsMs };
  }
}
