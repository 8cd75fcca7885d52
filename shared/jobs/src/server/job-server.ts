import { namesOf } from '../job/definition.js';
import type { Claim, ClaimedJob, Outcome } from '../job/job.js';
import { delayOf, type LocalNotification, type ReadyJobs } from '../storage/notification.js';
import type { ServerDescription } from '../storage/servers.js';
import type { JobStorage } from '../storage/storage.js';
import { applyCode } from './applied-code.js';
import { Background } from './background.js';
import { Completer } from './completer.js';
import { DirectStarts } from './direct-starts.js';
import { Fetcher } from './fetcher.js';
import { Holdings } from './holdings.js';
import { InstallationWatch } from './installation-watch.js';
import type { Logger } from './logger.js';
import { Membership } from './membership.js';
import { Runner } from './runner.js';
import { logFieldsOf } from './running-attempt.js';
import { type JobServerEvents, type JobServerListener, ServerEvents } from './server-events.js';
import { type JobServerOptions, type ResolvedServerOptions, resolveServerOptions } from './server-options.js';
import { warnOf } from './storage-outage.js';

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
 * stopOnSignals([() => server.stop(), () => storage.close()]);
 * ```
 */
export class JobServer {
  readonly #options: ResolvedServerOptions;
  readonly #holdings: Holdings;
  readonly #membership: Membership;
  readonly #runner: Runner;
  readonly #completer: Completer;
  readonly #events: ServerEvents;
  readonly #fetcher: Fetcher;
  readonly #directStarts: DirectStarts;
  readonly #background: Background;
  readonly #installation: InstallationWatch;
  #unsubscribe: () => void = () => undefined;
  readonly #ended = new AbortController();
  #started: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  /** @throws {RangeError} if an option is out of bounds, or two handlers have the same job name */
  constructor(serverOptions: JobServerOptions) {
    const options = resolveServerOptions(serverOptions);
    const { storage, logger } = options;
    const holdings = new Holdings(storage.claims, logger);
    this.#options = options;
    this.#holdings = holdings;
    this.#membership = new Membership({
      servers: storage.servers,
      holdings,
      logger,
      onLost: () => this.#dropEverything(),
      onRequest: (request) => void (request === 'stop' ? this.stop() : this.quiet()),
      description: descriptionOf(options),
    });
    this.#events = new ServerEvents(logger);
    this.#completer = new Completer(storage.completions, holdings, logger, () =>
      this.#background.wake('outbox'),
    );
    const runner = new Runner({
      ...options,
      holdings,
      onStart: (job, wait) => this.#events.started(job, wait),
      onOutcome: (job, outcome, ranMs) => this.#finish(job, outcome, ranMs),
      onRunning: (jobs) => this.#membership.report(jobs),
    });
    this.#installation = new InstallationWatch(storage.installation, logger, () => {
      this.#fetcher.notified(null);
      this.#background.notified('recurring', 0);
    });
    const isPaused = (): boolean => this.#installation.isPaused;
    const fetcher = new Fetcher({ ...options, holdings, runner, isPaused });
    this.#runner = runner;
    this.#fetcher = fetcher;
    this.#directStarts = new DirectStarts({ ...options, holdings, runner, fetcher });
    this.#background = new Background({
      ...options,
      holdings,
      runner,
      fetcher,
      isPaused,
      onLost: (claims) => this.#dropLost(claims),
      onRescue: (report) => this.#events.rescued(report),
    });
  }

  /**
   * The id of this server's registration; `null` if the server is not registered, for example before `start` or after
   * `stop`.
   */
  get id(): string | null {
    return this.#holdings.serverId;
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

  /** Maximum number of jobs whose handlers run at the same time. */
  get concurrency(): number {
    return this.#options.concurrency;
  }

  /** Number of jobs whose handlers are running. */
  get running(): number {
    return this.#holdings.running.size;
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
    await applyCode(this.#options);
    if (this.#stopped !== undefined) return;
    await this.#installation.read();
    await this.#membership.join();
    if (this.#stopped !== undefined) return this.#membership.leave();
    const { logger, storage } = this.#options;
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
    const stopDirectStarts = this.#ignoresReadyJobs
      ? undefined
      : storage.enqueuer.startOn?.(this.#directStarts);
    this.#unsubscribe = () => {
      stopDirectStarts?.();
      stopNotifications();
      stopSetAside();
    };
    this.#installation.start();
    this.#fetcher.start();
    this.#background.start();
  }

  /**
   * Resolves to `true` when nothing is left to run now:
   *
   * - no job is ready in this server's queues that it has a handler for and that may start
   * - it runs no job
   * - nothing is due that makes a job ready: no scheduled or recurring job, dependent, callback, bulk operation, end of a
   *   pause, or job of a server that died
   *
   * What its own jobs enqueue and make ready has then run, too. Jobs that run on other servers are not waited for. Jobs that
   * are due later (retries with a delay included), and jobs that a pause or a limit holds back, are left.
   *
   * Resolves to `false` if the server stops, or stops claiming, before that, and if the installation is paused.
   *
   * @throws {Error} if the server has not been started
   */
  async drained(): Promise<boolean> {
    if (this.#started === undefined) throw new Error('drained: start the server first, with server.start()');
    await this.#started;
    for (;;) {
      const before = this.#runner.started;
      await this.#background.catchUp();
      await this.#fetcher.poll();
      if (this.#fetcher.isStopped || this.#stopped !== undefined || this.#installation.isPaused) return false;
      const isIdle = this.#fetcher.isIdle && this.#holdings.isEmpty && this.#runner.started === before;
      if (isIdle && this.id !== null) return true;
      await this.#runner.finished();
      await this.#completer.drained();
      await new Promise((resolve) => setImmediate(resolve)); // lets timers fire, for example the one that registers again
    }
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
    await this.#fetcher.stop();
    await this.#holdings.release(this.#runner.takeWaiting().map(({ claim }) => claim));
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
    logger.info({ running: this.running }, 'server stopping');
    const finished = await this.#runner.finished(Math.max(0, stopAt - performance.now()));
    this.#runner.refuse();
    const endAt = performance.now() + shutdownGraceMs;
    const inTime = (task: Promise<unknown>, minMs = 0): Promise<void> =>
      waitAtMost(Math.max(minMs, endAt - performance.now()), task);
    if (!finished) {
      const unfinished = this.#holdings.claims();
      logger.warn(
        { jobs: unfinished.length },
        'jobs did not finish in time; another server will run them again',
      );
      this.#runner.drop(unfinished, new Error('The server is stopping'));
      await inTime(this.#runner.abandoned());
      await inTime(this.#holdings.release(unfinished));
    }
    await inTime(quieted);
    await inTime(this.#completer.drained());
    this.#completer.abandon();
    await inTime(this.#runner.close());
    await inTime(Promise.all([this.#background.stop(), this.#installation.stop()]));
    await inTime(this.#membership.leave(), leaveMs).catch((error: unknown) =>
      warnOf(logger, error, {}, 'the server could not be removed from the list; others will do so'),
    );
    logger.info({}, 'server stopped');
    this.#ended.abort();
  }

  /** Wakes what has something to do. Returns whether this server does all of it. */
  #notified(notification: LocalNotification): boolean {
    const withinMs = delayOf(notification);
    switch (notification.kind) {
      case 'ready':
        return this.#notifiedOfJobs(notification);
      case 'listening':
        this.#background.notified(null, withinMs);
        if (!this.#ignoresReadyJobs) this.#fetcher.notified(null, withinMs);
        return false;
      case 'enqueued':
        if (!this.#ignoresReadyJobs) this.#fetcher.notified(null, withinMs);
        return false;
      default:
        this.#background.notified(notification.kind, withinMs);
        return notification.kind !== 'cancel'; // the job may run on another server
    }
  }

  #notifiedOfJobs({ queue, jobs = Infinity, names = [] }: ReadyJobs): boolean {
    const { queues, concurrency } = this.#options;
    if (this.#ignoresReadyJobs || !queues.names.includes(queue)) return false;
    const yieldsMs = this.#runner.yieldsMs(queue);
    const runsThem =
      yieldsMs === 0 &&
      this.#fetcher.isIdle &&
      jobs <= concurrency - this.#holdings.taken &&
      names.every((name) => this.#runner.handles(name));
    this.#fetcher.notified(queue, yieldsMs);
    return runsThem;
  }

  /** If a polling interval is set, jobs must not start before the next poll. */
  get #ignoresReadyJobs(): boolean {
    return this.#options.queuePollIntervalMs > 0;
  }

  #finish(job: ClaimedJob, outcome: Outcome | null, ranMs: number): void {
    const { claim, meta } = job;
    if (outcome !== null) this.#completer.add({ claim, outcome, hasMeta: meta !== null });
    logFailure(this.#options.logger, job, outcome);
    this.#events.ended(job, outcome, ranMs);
    this.#fetcher.jobFinished();
  }

  #dropLost(claims: readonly Claim[]): void {
    // Excludes jobs that finished during the renewal, because their leases ended normally.
    const attempts = new Map(this.#holdings.claims().map(({ jobId, attempt }) => [jobId, attempt]));
    const lost = claims.filter(({ jobId, attempt }) => attempts.get(jobId) === attempt);
    if (lost.length === 0) return;
    this.#options.logger.warn({ claims: lost }, 'leases were lost; other servers may run the jobs again');
    this.#events.lost(lost);
    this.#runner.drop(lost, new Error('The lease on this job was lost'));
  }

  #dropEverything(): void {
    const lost = this.#holdings.claims();
    this.#events.lost(lost);
    this.#runner.drop(lost, new Error('This server was declared dead'));
    this.#completer.abandon();
  }
}

/** Returns the details to register for this server. The list of servers shows them. */
function descriptionOf(options: ResolvedServerOptions): ServerDescription {
  const { weights } = options.queues;
  return {
    host: options.host,
    pid: process.pid,
    queues: [...options.queues.names],
    ...(weights !== null && { queueWeights: weights }),
    jobNames: options.handlers.flatMap(({ definition }) => namesOf(definition)),
    concurrency: options.concurrency,
    ...(options.version !== null && { version: options.version }),
    timeoutMs: options.serverTimeoutMs,
  };
}

/** Logs a failed attempt. Logs a warning if the job will be retried, otherwise an error. Ignores other outcomes. */
function logFailure(logger: Logger, job: ClaimedJob, outcome: Outcome | null): void {
  if (outcome?.kind !== 'retry' && outcome?.kind !== 'failed') return;
  const { name } = job;
  const fields = { ...logFieldsOf(job), err: outcome.error };
  if (outcome.kind === 'retry')
    logger.warn(
      { ...fields, retryInMs: Math.round(outcome.delayMs) },
      `job ${name} failed and will be retried`,
    );
  else logger.error(fields, `job ${name} failed for good`);
}

/**
 * Waits for the task, but at most `timeoutMs`. The task itself continues after this time. Rejects if the task rejects
 * in time.
 */
async function waitAtMost(timeoutMs: number, task: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  try {
    await Promise.race([task, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
