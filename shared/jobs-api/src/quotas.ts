import {
  type EnqueueOptions,
  type EnqueueRequest,
  type Job,
  type JobState,
  type JobStorage,
  type QuotaLimits,
  ReadTimeoutError,
} from '@longshore/jobs';
import { type JobContent, Schedule, type ScheduleOptions } from '@longshore/jobs/storage';
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
  async checkSchedule(schedule: ScheduleOptions): Promise<void> {
    const { cron = null, every = null } = schedule;
    const isWholeMinutes = cron !== null && cron.trim().split(/\s+/).length <= 5;
    if (isWholeMinutes && this.#minIntervalSeconds <= minuteSeconds) return;
    const now = new Date(this.#storage.clock.now());
    const times = await new Schedule(schedule).upcomingInSlices(comparedTimes + 1, now);
    const [given, advice] =
      cron === null
        ? [`every "${every}"`, 'use a longer interval']
        : [`cron "${cron}"`, 'leave out the seconds'];
    for (const [index, last] of times.entries()) {
      const next = times[index + 1]?.getTime() ?? Infinity;
      const seconds = (next - last.getTime()) / 1_000;
      if (seconds < this.#minIntervalSeconds)
        throw apiError(
          42202,
          `${given} is due ${seconds} s after ${last.toISOString()}; a recurring job that is created over the API may be due every ${this.#minIntervalSeconds} s at most: ${advice}, or define it in code`,
        );
    }
  }
}

/** How long a count is reused, in milliseconds. */
const countMaxAgeMs = 1_000;

/** Number of cached counts at which the cache is cleared. */
const maxQueues = 1_000;

/** Whether jobs belong to the backlog (ready or blocked) as soon as they are enqueued, or wait for a time or for other jobs. */
type Readiness = 'ready' | 'waiting';

const statesOf: Readonly<Record<Readiness, readonly JobState[]>> = {
  ready: ['enqueued'],
  waiting: ['scheduled', 'awaiting'],
};

/** Maximum number of jobs in a queue, by readiness; `Infinity` for no limit. */
type BacklogLimits = Readonly<Record<Readiness, number>>;

interface Count {
  /** The number of jobs when they were counted, plus the jobs admitted since. */
  jobs: number;
  readonly untilMs: number;
}

/** Jobs that are about to be added to a queue. */
interface Coming {
  readonly queue: string;
  readonly readiness: Readiness;
  jobs: number;
}

/**
 * Rejects jobs that would give a queue too large a backlog, or too many jobs that wait for a time or for other jobs. The jobs of
 * a queue are counted at most once a second. Jobs admitted between two counts are added to the earlier count.
 */
export class Backlog {
  readonly limits: BacklogLimits;
  readonly #storage: Pick<JobStorage, 'jobs' | 'clock'>;
  readonly #now: () => number;
  readonly #counts = new Map<string, Promise<Count>>();

  /** @param now returns milliseconds of a monotonic clock */
  constructor(
    storage: Pick<JobStorage, 'jobs' | 'clock'>,
    limits: BacklogLimits,
    now: () => number = () => performance.now(),
  ) {
    this.#storage = storage;
    this.#now = now;
    this.limits = limits;
  }

  /** @throws {ApiError} 42901 if a queue would have too many jobs; in that case, no job is admitted */
  async admit(requests: readonly EnqueueRequest[]): Promise<void> {
    const coming = requests.map(({ definition, options = {} }) => {
      return {
        queue: options.queue ?? definition.queue,
        readiness: readinessOf(options, this.#storage.clock.now()),
      };
    });
    await this.#admit(coming);
  }

  /** Admits one ready job. Throws as {@link admit} does. */
  async admitReady(queue: string): Promise<void> {
    await this.#admit([{ queue, readiness: 'ready' }]);
  }

  /** Admits jobs that an edit moves to another queue or makes ready. Throws as {@link admit} does. */
  async admitEdited(
    current: ReadonlyMap<string, Job>,
    contents: ReadonlyMap<string, JobContent>,
  ): Promise<void> {
    const now = this.#storage.clock.now();
    const readinessOf = (state: JobState, runAt: Date | null): Coming['readiness'] =>
      state === 'awaiting' || (runAt !== null && runAt.getTime() > now) ? 'waiting' : 'ready';
    await this.#admit(
      [...contents].flatMap(([id, { queue, runAt }]) => {
        const job = current.get(id);
        if (job === undefined) return [];
        const readiness = readinessOf(job.state, runAt);
        const isSame = queue === job.queue && readiness === readinessOf(job.state, job.runAt);
        return isSame ? [] : [{ queue, readiness }];
      }),
    );
  }

  async #admit(jobs: readonly Pick<Coming, 'queue' | 'readiness'>[]): Promise<void> {
    const coming = new Map<string, Coming>();
    for (const { queue, readiness } of jobs) {
      if (this.limits[readiness] === Infinity) continue;
      const group = coming.get(`${readiness} ${queue}`);
      if (group === undefined) coming.set(`${readiness} ${queue}`, { queue, readiness, jobs: 1 });
      else group.jobs++;
    }
    const admitted = await Promise.all(
      [...coming.values()].map(async (one) => ({ ...one, count: await this.#current(one) })),
    );
    const full = admitted.find(({ jobs, readiness, count }) => count.jobs + jobs > this.limits[readiness]);
    if (full !== undefined) {
      const { queue, readiness, count } = full;
      const message = `The queue "${queue}" has ${count.jobs} ${readiness} jobs; its limit is ${this.limits[readiness]}`;
      throw apiError(42901, message, { 'retry-after': '1' });
    }
    for (const { jobs, count } of admitted) count.jobs += jobs;
  }

  /**
   * Returns the cached count of a queue. Counts the jobs first if no count is cached or the cached one has expired.
   * Concurrent callers share one count.
   */
  async #current(one: Coming): Promise<Count> {
    const key = `${one.readiness} ${one.queue}`;
    const counted = this.#counts.get(key);
    const before = counted === undefined ? undefined : await counted;
    if (before !== undefined && before.untilMs > this.#now()) return before;
    if (this.#counts.get(key) !== counted) return this.#current(one); // another caller has started to count
    if (this.#counts.size >= maxQueues) this.#counts.clear();
    const counting = this.#count(one, before?.jobs ?? 0);
    this.#counts.set(key, counting);
    counting.catch(() => this.#counts.delete(key));
    return counting;
  }

  /** Counts the jobs of a queue. If counting times out, uses `before` instead. */
  async #count({ queue, readiness }: Coming, before: number): Promise<Count> {
    const jobs = await this.#storage.jobs.count({ queue: [queue], state: statesOf[readiness] }).then(
      ({ count }) => count,
      (error: unknown) => {
        if (error instanceof ReadTimeoutError) return before;
        throw error;
      },
    );
    return { jobs, untilMs: this.#now() + countMaxAgeMs };
  }
}

/** Returns whether a job with these options waits for a time or for other jobs before it is ready. */
function readinessOf(
  { delayMs = 0, runAt, after }: Omit<EnqueueOptions, 'transaction'>,
  nowMs: number,
): Readiness {
  const isLater = delayMs > 0 || (runAt !== undefined && runAt.getTime() > nowMs);
  return isLater || after !== undefined ? 'waiting' : 'ready';
}
