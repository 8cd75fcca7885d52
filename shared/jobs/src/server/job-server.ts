import type { Claim, ClaimedJob, Outcome } from '../job/job.js';
import {
  delayOf,
  type LocalNotification,
  type Notification,
  type ReadyJobs,
} from '../storage/notification.js';
import type { JobStorage } from '../storage/storage.js';
import { BulkRunner } from './bulk-runner.js';
import { Canceller } from './canceller.js';
import { Cleaner } from './cleaner.js';
import { Completer } from './completer.js';
import { logFailure } from './failure-log.js';
import { Fetcher } from './fetcher.js';
import { LeaseRenewer } from './lease-renewer.js';
import { Loop } from './loop.js';
import { Membership } from './membership.js';
import { RecurringScheduler } from './recurring-scheduler.js';
import { Rescuer } from './rescuer.js';
import { Resumer } from './resumer.js';
import { Runner } from './runner.js';
import { Scheduler } from './scheduler.js';
import { type JobServerEvents, type JobServerListener, ServerEvents } from './server-events.js';
import { DependencyResolver } from './dependency-resolver.js';
import { warnOf } from './storage-outage.js';
import { describeServer } from './server-description.js';
import { DirectStarts } from './direct-starts.js';
import { type JobServerOptions, type ResolvedServerOptions, resolveServerOptions } from './server-options.js';
import { waitAtMost } from './wait-at-most.js';

/**
 * Maximum time for `stop` to release jobs, write outcomes and end background tasks, in milliseconds. Counted from when
 * `stop` has finished waiting for running jobs.
 */
const shutdownGraceMs = 5_000;

/** Minimum time that `stop` allows for unregistering, in milliseconds, even if `shutdownGraceMs` is used up. */
const leaveMs = 1_000;

/**
 * Claims jobs from the storage and runs them. Also takes part in the storage's background work, such as scheduling jobs
 * and reclaiming the jobs of dead servers.
 *
 * ```ts
 * const server = new JobServer({ storage, handlers: [handleJob(sendReceipt, send)] });
 * await server.start();
 * process.once('SIGTERM', () => void server.stop());
 * ```
 */
export class JobServer {
  readonly #options: ResolvedServerOptions;
  readonly #membership: Membership;
  readonly #runner: Runner;
  readonly #completer: Completer;
  readonly #events: ServerEvents;
  readonly #fetcher: Fetcher;
  readonly #fetching: Loop;
  readonly #directStarts: DirectStarts;
  readonly #recurring: RecurringScheduler;
  readonly #resolvingDependencies: Loop;
  /** The loops that have something to do after a notification, by its kind. */
  readonly #notifiedLoops: Readonly<Record<Exclude<Notification['kind'], 'ready'>, Loop>>;
  readonly #background: readonly Loop[];
  #unsubscribe: () => void = () => undefined;
  readonly #ended = new AbortController();
  #started: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;
  /** Whether newly claimed jobs are released instead of run. Set when `stop` has finished waiting for running jobs. */
  #refusing = false;

  /** @throws {RangeError} if an option is out of bounds, or two handlers have the same job name */
  constructor(options: JobServerOptions) {
    const resolved = resolveServerOptions(options);
    const { storage, logger, concurrency, queues, slidingInvisibilityTimeoutMs: leaseMs } = resolved;
    const isNotified = (): boolean => storage.notificationsArrive;
    this.#options = resolved;
    this.#membership = new Membership({
      servers: storage.servers,
      logger,
      onLost: () => this.#dropEverything(),
      onRequest: (request) => void (request === 'stop' ? this.stop() : this.quiet()),
      description: describeServer(resolved),
    });
    this.#completer = new Completer(storage.completions, logger, () => this.#resolvingDependencies.wake());
    this.#events = new ServerEvents(logger);
    this.#runner = new Runner({
      ...resolved,
      onStart: (job, waitedMs) => this.#events.started(job, waitedMs),
      onOutcome: (job, outcome) => this.#finish(job, outcome),
    });
    this.#fetcher = new Fetcher({
      store: storage.claims,
      queues,
      concurrency,
      leaseMs,
      queuePollIntervalMs: resolved.queuePollIntervalMs,
      isNotified,
      serverId: () => this.#membership.serverId,
      claimedCount: () => this.#runner.claimedCount + this.#directStarts.reservedCount,
      take: (jobs) => this.#take(jobs),
      takeWaiting: (minWaitMs) => this.#runner.takeWaiting(minWaitMs),
      claims: () => [...this.#claims(), ...this.#directStarts.claims],
    });
    this.#directStarts = new DirectStarts({
      queues: queues.names,
      concurrency,
      leaseMs,
      handles: (name) => this.#runner.handles(name),
      serverId: () => this.#membership.serverId,
      isIdle: () => this.#fetcher.isIdle,
      claimedCount: () => this.#runner.claimedCount,
      take: (jobs) => this.#takeInserted(jobs),
      onUncertain: (queue) => {
        this.#fetcher.uncertain(queue);
        this.#fetching.wake();
      },
    });
    const leases = new LeaseRenewer({
      store: storage.claims,
      leaseMs,
      claims: () => this.#claims(),
      onLost: (claims) => this.#dropLost(claims),
    });
    const canceller = new Canceller({
      control: storage.control,
      claims: () => [...this.#runner.claims()],
      cancel: (claims) => this.#release(this.#runner.cancel(claims)), // the storage cancels what is released
    });
    const scheduler = new Scheduler(storage.maintenance, isNotified);
    const resumer = new Resumer(storage.maintenance, isNotified);
    const resolver = new DependencyResolver(storage.maintenance, isNotified);
    const bulk = new BulkRunner(storage.bulk, isNotified);
    this.#recurring = new RecurringScheduler(storage.recurring, logger, isNotified);
    const rescuer = new Rescuer(
      storage.maintenance,
      Math.min(leaseMs / 5, resolved.serverTimeoutMs / 3),
      logger,
    );
    const cleaner = new Cleaner(storage.maintenance);
    this.#fetching = new Loop({
      task: 'fetching jobs',
      logger,
      runOnce: () => this.#fetcher.runOnce(),
      floorMs: 5, // short, because jobs wait for it
    });
    const loop = (task: string, runOnce: () => Promise<number>): Loop => new Loop({ task, logger, runOnce });
    this.#resolvingDependencies = loop('resolving dependencies', () => resolver.runOnce());
    this.#notifiedLoops = {
      outbox: this.#resolvingDependencies,
      due: loop('scheduling jobs', () => scheduler.runOnce()),
      recurring: loop('enqueueing recurring jobs', () => this.#recurring.runOnce()),
      pause: loop('resuming what was paused', () => resumer.runOnce()),
      bulk: loop('running bulk operations', () => bulk.runOnce()),
      cancel: loop('cancelling jobs', () => canceller.runOnce()),
    };
    this.#background = [
      ...Object.values(this.#notifiedLoops),
      loop('releasing waiting jobs', () => this.#fetcher.trim()),
      loop('renewing leases', () => leases.runOnce()),
      loop('rescuing jobs', () => rescuer.runOnce()),
      loop('cleaning up', () => cleaner.runOnce()),
    ];
  }

  /**
   * The id of this server's registration; `null` if the server is not registered, for example before `start` or after
   * `stop`.
   */
  get id(): string | null {
    return this.#membership.serverId;
  }

  /** Aborts when this server has stopped, whether after a call to `stop` or at an operator's request. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * For how long this server has not been able to claim jobs, in milliseconds, because the storage does not answer or answers
   * with errors. 0 while claiming advances, whether there are jobs or not, and while the server is not meant to claim any.
   */
  get stalledMs(): number {
    return this.#fetcher.stalledMs;
  }

  get storage(): JobStorage {
    return this.#options.storage;
  }

  /** Number of jobs whose handlers are running. */
  get running(): number {
    return this.#runner.running;
  }

  /**
   * Adds a listener for an event on this server, and returns a function that removes it. The events for the end of an
   * attempt are emitted when the handler ends, which can be before the outcome is stored.
   */
  on<Name extends keyof JobServerEvents>(name: Name, listener: JobServerListener<Name>): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * Stores the `recurring` jobs and registers the server. Then starts claiming jobs and doing background work. The
   * storage must be open. Further calls return the same promise. If starting fails, it can be tried again.
   *
   * If the server is stopped while it starts, resolves without having started.
   *
   * @throws {Error} if the server has been stopped; create another to start again
   */
  start(): Promise<void> {
    if (this.#stopped !== undefined)
      return Promise.reject(new Error('This server was stopped: create another JobServer to start again'));
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #start(): Promise<void> {
    const { recurring } = this.#options;
    if (recurring !== null) await this.#recurring.synchronize(recurring.application, recurring.jobs);
    if (this.#stopped !== undefined) return;
    await this.#membership.join();
    if (this.#stopped !== undefined) return this.#membership.leave();
    const { logger, storage, queuePollIntervalMs } = this.#options;
    const stopNotifications = storage.onNotification(
      (notification) => this.#notified(notification),
      this.#options.queues.names,
    );
    const stopSetAside = storage.setAside.listen(({ error, ...item }) =>
      logger.error(
        { ...item, err: error },
        'item set aside after an error; background processing continues without it',
      ),
    );
    // If a polling interval is set, jobs must not start before the next poll.
    const stopDirectStarts =
      queuePollIntervalMs > 0 ? undefined : storage.enqueuer.startOn?.(this.#directStarts);
    this.#unsubscribe = () => {
      stopDirectStarts?.();
      stopNotifications();
      stopSetAside();
    };
    if (!this.#fetcher.isStopped) this.#fetching.start();
    for (const loop of this.#background) loop.start();
  }

  /**
   * Stops claiming jobs and releases the jobs that have not started. Running jobs continue. A quiet server cannot
   * resume; start a new server instead. Before `start`, the server will start quiet; after `stop`, does nothing.
   */
  async quiet(): Promise<void> {
    if (this.#stopped === undefined) await this.#quiet();
  }

  async #quiet(): Promise<void> {
    this.#membership.enter('quiet');
    this.#fetcher.stop();
    await this.#fetching.stop();
    await this.#release(this.#runner.takeWaiting().map(({ claim }) => claim));
  }

  /**
   * Stops the server. Further calls return the same promise. Resolves within `stopTimeoutMs` plus six seconds, even if
   * the storage does not respond. Does not close the storage. A server that is starting does not finish doing so; one
   * that was never started cannot be started any more.
   *
   * - Stops claiming jobs, and releases the jobs that have not started.
   * - Gives running jobs `stopTimeoutMs` to finish.
   * - Aborts the signals of the remaining jobs, ends their transactions, and releases the jobs. These attempts do not
   *   count.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { logger, stopTimeoutMs } = this.#options;
    const stopAt = performance.now() + stopTimeoutMs;
    // If registering takes longer than this, the server unregisters itself when it succeeds.
    const started = this.#started?.catch(() => undefined); // reported by `start`
    if (started !== undefined) await waitAtMost(stopTimeoutMs, started);
    this.#unsubscribe();
    const quieted = this.#quiet(); // can hang if the storage does not respond, so the wait for it is limited
    await waitAtMost(Math.max(0, stopAt - performance.now()), quieted);
    this.#membership.enter('stopping');
    logger.info({ running: this.#runner.running }, 'server stopping');
    const finished = await this.#runner.finished(Math.max(0, stopAt - performance.now()));
    this.#refusing = true;
    const endAt = performance.now() + shutdownGraceMs;
    const inTime = (task: Promise<unknown>, minMs = 0): Promise<void> =>
      waitAtMost(Math.max(minMs, endAt - performance.now()), task);
    if (!finished) {
      const unfinished = [...this.#runner.claims()];
      logger.warn(
        { jobs: unfinished.length },
        'jobs did not finish in time; another server will run them again',
      );
      this.#runner.drop(unfinished, new Error('The server is stopping'));
      await inTime(this.#runner.abandoned());
      await inTime(this.#release(unfinished));
    }
    await inTime(quieted);
    await inTime(this.#completer.drained());
    this.#completer.abandon();
    await inTime(this.#runner.close());
    await inTime(Promise.all(this.#background.map((loop) => loop.stop())));
    await inTime(this.#membership.leave(), leaveMs).catch((error: unknown) =>
      warnOf(logger, error, {}, 'the server could not be removed from the list; others will do so'),
    );
    logger.info({}, 'server stopped');
    this.#ended.abort();
  }

  #take(jobs: readonly ClaimedJob[]): void {
    if (this.#refusing) void this.#release(jobs.map(({ claim }) => claim));
    else this.#runner.take(jobs);
    this.#membership.report(this.#runner.running);
  }

  /** Takes jobs that were inserted with a lease for this server. Releases them if the server has since become quiet. */
  #takeInserted(jobs: readonly ClaimedJob[]): void {
    if (this.#fetcher.isStopped) void this.#release(jobs.map(({ claim }) => claim));
    else this.#take(jobs);
  }

  /** Wakes the loop that has something to do. Returns whether this server does all of it. */
  #notified(notification: LocalNotification): boolean {
    if (notification.kind === 'ready') return this.#notifiedOfJobs(notification);
    if (notification.kind === 'listening' || notification.kind === 'enqueued') {
      const withinMs = delayOf(notification);
      if (notification.kind === 'listening')
        for (const loop of Object.values(this.#notifiedLoops)) loop.notified(withinMs);
      if (this.#options.queuePollIntervalMs > 0) return false;
      if (withinMs === 0) this.#fetcher.notified(null);
      this.#fetching.notified(withinMs);
      return false;
    }
    this.#notifiedLoops[notification.kind].notified(delayOf(notification));
    return notification.kind !== 'cancel'; // the job may run on another server
  }

  #notifiedOfJobs({ queue, jobs = Infinity, names = [] }: ReadyJobs): boolean {
    const { queues, queuePollIntervalMs, concurrency } = this.#options;
    if (queuePollIntervalMs > 0 || !queues.names.includes(queue)) return false;
    const free = concurrency - this.#runner.claimedCount - this.#directStarts.reservedCount;
    const runsThem =
      this.#fetcher.isIdle && jobs <= free && names.every((name) => this.#runner.handles(name));
    this.#fetcher.notified(queue);
    this.#fetching.notified(0);
    return runsThem;
  }

  #finish(job: ClaimedJob, outcome: Outcome | null): void {
    const { claim, meta } = job;
    if (outcome !== null) this.#completer.add({ claim, outcome, hasMeta: meta !== null });
    logFailure(this.#options.logger, job, outcome);
    this.#events.ended(job, outcome);
    this.#membership.report(this.#runner.running);
    if (this.#fetcher.jobFinished()) this.#fetching.wake();
  }

  #dropLost(claims: readonly Claim[]): void {
    // Excludes jobs that finished during the renewal, because their leases ended normally.
    const held = new Map([...this.#runner.claims()].map(({ jobId, attempt }) => [jobId, attempt]));
    const lost = claims.filter(({ jobId, attempt }) => held.get(jobId) === attempt);
    if (lost.length === 0) return;
    this.#options.logger.warn({ claims: lost }, 'leases were lost; other servers may run the jobs again');
    this.#events.lost(lost);
    this.#runner.drop(lost, new Error('The lease on this job was lost'));
  }

  #dropEverything(): void {
    const lost = [...this.#runner.claims()];
    this.#events.lost(lost);
    this.#runner.drop(lost, new Error('This server was declared dead'));
    this.#completer.abandon();
  }

  #claims(): Claim[] {
    return [...this.#runner.claims(), ...this.#completer.claims];
  }

  /** Releases claims. If this fails, the rescuer reclaims the jobs later. */
  async #release(claims: readonly Claim[]): Promise<void> {
    if (claims.length === 0) return;
    try {
      await this.#options.storage.claims.release(claims);
    } catch (error) {
      warnOf(this.#options.logger, error, { jobs: claims.length }, 'releasing jobs failed');
    }
  }
}
