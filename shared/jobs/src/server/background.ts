import type { Claim } from '../job/job.js';
import type { RescueReport } from '../storage/maintenance.js';
import type { Notification } from '../storage/notification.js';
import type { JobStorage } from '../storage/storage.js';
import type { Fetcher } from './fetcher.js';
import type { Holdings } from './holdings.js';
import { Loop } from './loop.js';
import type { Runner } from './runner.js';
import type { ResolvedServerOptions } from './server-options.js';

/** Polling interval in milliseconds if notifications do not arrive reliably. */
const shortPollMs = 1_000;

/**
 * Range of the polling interval while notifications arrive, in milliseconds. The interval is random so that tasks and
 * servers do not all poll at once.
 */
const idlePollMs = { min: 8_000, max: 12_000 };

/** Maximum number of jobs, recurring jobs, pauses or outbox entries in one round. */
const batches = { due: 1_000, recurring: 100, pause: 100, outbox: 500 };

/**
 * Delay in milliseconds after a round that resolved dependencies. More work can follow: for example, after a dependent was
 * cancelled, its own dependents may have to be cancelled too.
 */
const resolveAgainMs = 10;

/** Interval between polls for cancellations, in milliseconds. A poll finds them even if a notification was lost. */
const cancellationsMs = 1_000;

/**
 * Range of the pause between two rounds of cleaning up, in milliseconds. The pause doubles while there is nothing to do, and
 * otherwise halves: a single job is no reason for more rounds.
 */
const cleaningMs = { min: 1_000, max: 10_000 };

/** What a notification can ask for, apart from claiming. */
type Notified = Exclude<Notification['kind'], 'ready'>;

/**
 * The tasks of a server beside running jobs. Every server does all of them, for the jobs of all servers; the storage ensures
 * that no two servers do the same work.
 *
 * - `due`: makes scheduled jobs ready when they are due
 * - `recurring`: enqueues the jobs of due recurring jobs
 * - `pause`: resumes queues, job types and recurring jobs at the end of their pauses
 * - `outbox`: updates batches, dependents and blocked jobs after jobs have finished
 * - `bulk`: runs bulk operations in chunks
 * - `cancel`: cancels the jobs of this server whose cancellation was requested
 * - `waiting`: releases jobs that were fetched ahead and have waited for too long
 * - `leases`: renews the leases of this server
 * - `rescue`: reclaims the jobs of dead servers and jobs with an expired lease
 * - `cleaning`: updates counters, manages partitions, deletes expired jobs
 */
type Task = Notified | 'waiting' | 'leases' | 'rescue' | 'cleaning';

const names: Readonly<Record<Task, string>> = {
  due: 'scheduling jobs',
  recurring: 'enqueueing recurring jobs',
  pause: 'resuming what was paused',
  outbox: 'resolving dependencies',
  bulk: 'running bulk operations',
  cancel: 'cancelling jobs',
  waiting: 'releasing waiting jobs',
  leases: 'renewing leases',
  rescue: 'rescuing jobs',
  cleaning: 'cleaning up',
};

/**
 * The tasks that can make jobs ready, in an order in which the later ones find what the earlier ones leave: a rescued job can
 * have dependents, and a job that a bulk operation cancels as well.
 */
const readying: readonly Task[] = ['rescue', 'bulk', 'pause', 'recurring', 'due', 'outbox'];

/** Time between the first rounds of the tasks, in milliseconds, so that they do not need a connection each at the start. */
const betweenStartsMs = 50;

const notified: readonly Notified[] = ['due', 'recurring', 'pause', 'outbox', 'bulk', 'cancel'];

type BackgroundOption = 'logger' | 'serverTimeoutMs' | 'slidingInvisibilityTimeoutMs';

export interface BackgroundOptions extends Pick<ResolvedServerOptions, BackgroundOption> {
  readonly storage: Pick<
    JobStorage,
    'bulk' | 'claims' | 'control' | 'maintenance' | 'notificationsArrive' | 'recurring'
  >;
  readonly holdings: Holdings;
  readonly runner: Pick<Runner, 'cancel'>;
  readonly fetcher: Pick<Fetcher, 'trim'>;
  /** Returns whether recurring jobs enqueue no jobs for now. */
  readonly isPaused: () => boolean;
  /** Called with claims whose leases could not be renewed. */
  readonly onLost: (claims: readonly Claim[]) => void;
  /** Called with what this server has rescued, unless that is nothing. */
  readonly onRescue: (report: RescueReport) => void;
}

/** Runs the background {@link Task}s of a server, each in a loop of its own. */
export class Background {
  readonly #options: BackgroundOptions;
  readonly #loops: Readonly<Record<Task, Loop>>;
  #cleaningPauseMs = cleaningMs.min;

  constructor(options: BackgroundOptions) {
    const { logger } = options;
    this.#options = options;
    this.#loops = Object.fromEntries(
      Object.entries(names).map(([task, name]) => [
        task,
        new Loop({ task: name, logger, runOnce: () => this.run(task as Task) }),
      ]),
    ) as Record<Task, Loop>;
  }

  start(): void {
    for (const [place, loop] of Object.values(this.#loops).entries()) loop.start(place * betweenStartsMs);
  }

  /** Resolves when the current rounds have ended. */
  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#loops).map((loop) => loop.stop()));
  }

  /** Starts a round of a task now, or right after the current one. */
  wake(task: Task): void {
    this.#loops[task].wake();
  }

  /** Makes sure that a round of a task starts within this time; of every task that notifications ask for if it is `null`. */
  notified(task: Notified | null, withinMs: number): void {
    for (const notifiedTask of task === null ? notified : [task])
      this.#loops[notifiedTask].notified(withinMs);
  }

  /**
   * Makes all jobs ready that can be now, for the jobs of all servers: repeats the tasks that do so until none of them has
   * anything to do. Resolves early once the tasks are stopped.
   */
  async catchUp(): Promise<void> {
    for (let isBusy = true; isBusy;) {
      isBusy = false;
      for (const task of readying) {
        const pauseMs = await this.#loops[task].round();
        if (pauseMs === null) return;
        isBusy ||= pauseMs <= (task === 'outbox' ? resolveAgainMs : 0);
      }
    }
  }

  /** Runs one round of a task. Resolves to the time until the next one, in milliseconds. */
  run(task: Task): Promise<number> {
    return this.#tasks[task]();
  }

  readonly #tasks: Readonly<Record<Task, () => Promise<number>>> = {
    due: async () => {
      const { nextDueMs } = await this.#options.storage.maintenance.promoteDue(batches.due);
      return this.#pollMs(nextDueMs);
    },
    recurring: async () => {
      const { storage, logger, isPaused } = this.#options;
      if (isPaused()) return this.#pollMs();
      const { fired, nextDueMs } = await storage.recurring.fireDue(batches.recurring);
      for (const { id, skipped } of fired)
        if (skipped !== null)
          logger.warn({ recurringJobId: id, ...skipped }, 'due times of a recurring job were skipped');
      return this.#pollMs(nextDueMs);
    },
    pause: async () => {
      const { nextDueMs } = await this.#options.storage.maintenance.resumeDue(batches.pause);
      return this.#pollMs(nextDueMs);
    },
    outbox: async () => {
      const resolved = await this.#options.storage.maintenance.resolveDependencies(batches.outbox);
      if (resolved >= batches.outbox) return 0;
      return resolved > 0 ? resolveAgainMs : this.#pollMs();
    },
    bulk: async () => ((await this.#options.storage.bulk.advance()) ? 0 : this.#pollMs()),
    cancel: async () => {
      const { storage, holdings, runner } = this.#options;
      const claims = holdings.claims();
      // The storage cancels those that had not started when they are released.
      if (claims.length > 0)
        await holdings.release(runner.cancel(await storage.control.cancellations(claims)));
      return cancellationsMs;
    },
    waiting: () => this.#options.fetcher.trim(),
    // On the main thread on purpose: if the event loop is blocked, the leases expire and other servers run the jobs, even if
    // the heartbeat thread still works.
    leases: async () => {
      const { storage, holdings, onLost, slidingInvisibilityTimeoutMs: leaseMs } = this.#options;
      const leases = holdings.leases();
      const lost = leases.length === 0 ? [] : await storage.claims.renew(leases, leaseMs);
      if (lost.length > 0) onLost(lost);
      return leaseMs / 5;
    },
    rescue: async () => {
      const { storage, logger, onRescue, slidingInvisibilityTimeoutMs: leaseMs } = this.#options;
      const report = await storage.maintenance.rescue();
      if (report.deadServers.length + report.released + report.failed > 0) {
        logger.warn({ ...report }, 'took back jobs whose leases were lost');
        onRescue(report);
      }
      return Math.min(leaseMs / 5, this.#options.serverTimeoutMs / 3);
    },
    cleaning: async () => {
      const isActive = await this.#options.storage.maintenance.maintain();
      this.#cleaningPauseMs = isActive
        ? Math.max(this.#cleaningPauseMs / 2, cleaningMs.min)
        : Math.min(2 * this.#cleaningPauseMs, cleaningMs.max);
      return this.#cleaningPauseMs;
    },
  };

  /**
   * Returns the time until the next poll for work, in milliseconds. A poll also finds work without a notification, such as
   * work that a dead server has not finished. Such work is rare, so the interval is long while notifications arrive.
   *
   * @param nextDueMs milliseconds until the next known work; `null` if none is known
   */
  #pollMs(nextDueMs: number | null = null): number {
    const idleMs = idlePollMs.min + Math.random() * (idlePollMs.max - idlePollMs.min);
    const intervalMs = this.#options.storage.notificationsArrive ? idleMs : shortPollMs;
    return Math.min(intervalMs, Math.ceil(nextDueMs ?? Infinity));
  }
}
