import type { EnqueueRequest, JobStorage, QuotaLimits } from '@longshore/jobs';
import { Schedule } from '@longshore/jobs/storage';
import { apiError, type CallContext } from '@longshore/resources';

/** Quotas for what callers create. */
export interface Quotas {
  /** Default 1000 for each caller, 5000 in all. */
  readonly queues?: QuotaLimits;
  /** Default 100 for each caller, 1000 in all. */
  readonly recurringJobs?: QuotaLimits;
  /** Default 5000 for each caller, 10,000 in all. */
  readonly deployments?: QuotaLimits;
  /** Minimum time between two due times of a recurring job, in seconds; default 60. */
  readonly minIntervalSeconds?: number;
}

/** A caller that creates something. */
export type Creator = Pick<CallContext, 'caller'>;

/** Number of queues that are known to exist at which they are looked up again. */
const maxKnown = 20_000;

/** How many due times of a recurring job are compared: more than there are in a minute. */
const comparedTimes = 61;

/** The shortest time between two due times of a schedule without seconds. */
const minuteSeconds = 60;

/** Checks what callers create against their quotas. */
export class CallerQuotas {
  readonly #storage: Pick<JobStorage, 'quotas' | 'clock'>;
  readonly #queues: QuotaLimits;
  readonly #recurringJobs: QuotaLimits;
  readonly #deployments: QuotaLimits;
  readonly #minIntervalSeconds: number;
  /** Queues that exist or have been admitted. */
  readonly #known = new Set<string>();

  constructor(
    storage: Pick<JobStorage, 'quotas' | 'clock'>,
    {
      queues = { perCaller: 1_000, total: 5_000 },
      recurringJobs = { perCaller: 100, total: 1_000 },
      deployments = { perCaller: 5_000, total: 10_000 },
      minIntervalSeconds = 60,
    }: Quotas = {},
  ) {
    this.#storage = storage;
    this.#queues = queues;
    this.#recurringJobs = recurringJobs;
    this.#deployments = deployments;
    this.#minIntervalSeconds = minIntervalSeconds;
  }

  /**
   * Admits the queues of jobs that a caller is about to enqueue.
   * @throws {QuotaExceededError} if the caller may create no more queues
   */
  async admitQueuesOf(requests: readonly EnqueueRequest[], creator: Creator): Promise<void> {
    const queues = new Set<string>();
    for (const { definition, options } of requests) queues.add(options?.queue ?? definition.queue);
    await this.admitQueues(queues, creator);
  }

  /** Like {@link admitQueuesOf}, for queues that are named otherwise. */
  async admitQueues(queues: Iterable<string>, { caller }: Creator): Promise<void> {
    const unknown = [...queues].filter((queue) => !this.#known.has(queue));
    if (unknown.length === 0) return;
    await this.#storage.quotas.admit('queue', unknown, caller, this.#queues);
    if (this.#known.size >= maxKnown) this.#known.clear();
    for (const queue of unknown) this.#known.add(queue);
  }

  /** Admits a queue that a caller is about to create, even if one of this name was admitted before. Throws as above. */
  async admitQueue(queue: string, { caller }: Creator): Promise<void> {
    await this.#storage.quotas.admit('queue', [queue], caller, this.#queues);
  }

  /**
   * Admits a recurring job that a caller is about to create.
   * @throws {QuotaExceededError} if the caller may create no more recurring jobs
   */
  async admitRecurringJob(id: string, { caller }: Creator): Promise<void> {
    await this.#storage.quotas.admit('recurring job', [id], caller, this.#recurringJobs);
  }

  /**
   * Admits a deployment that a caller is about to record.
   * @throws {QuotaExceededError} if the caller may record no more deployments
   */
  async admitDeployment(id: string, { caller }: Creator): Promise<void> {
    await this.#storage.quotas.admit('deployment', [id], caller, this.#deployments);
  }

  /** @throws {ApiError} 42202 if the schedule is due more often than callers may have it */
  async checkSchedule({
    cron,
    timeZone,
  }: {
    readonly cron: string;
    readonly timeZone: string;
  }): Promise<void> {
    const hasSeconds = cron.trim().split(/\s+/).length > 5;
    if (!hasSeconds && this.#minIntervalSeconds <= minuteSeconds) return;
    const now = new Date(this.#storage.clock.now());
    const times = await new Schedule(cron, timeZone).upcomingInSlices(comparedTimes + 1, now);
    for (const [index, last] of times.entries()) {
      const next = times[index + 1]?.getTime() ?? Infinity;
      const seconds = (next - last.getTime()) / 1_000;
      if (seconds < this.#minIntervalSeconds)
        throw apiError(
          42202,
          `cron "${cron}" is due ${seconds} s after ${last.toISOString()}; a recurring job that is created over the API may be due every ${this.#minIntervalSeconds} s at most: leave out the seconds, or define it in code`,
        );
    }
  }
}
