import { deploymentBounds } from '../storage/deployments.js';
import { availableParallelism, hostname } from 'node:os';
import { bounds, checkInteger } from '../job/bounds.js';
import type { NewRecurringJob } from '../recurring/recurring-job.js';
import type { JobStorage } from '../storage/storage.js';
import type { JobHandler, RunMiddleware } from './handler.js';
import { consoleLogger, guarded, type Logger } from './logger.js';
import { QueueOrder, type ServerQueues } from './queue-order.js';

/** Options for how long a server's leases and registration last and how often it polls, all in milliseconds. */
export interface ServerTimes {
  /**
   * How long a lease lasts unless it is renewed; the server renews it five times in this period. 1 000 to 86 400 000,
   * default 300 000. With a shorter lease, the jobs of a stuck server are recovered sooner. A handler must never block
   * the event loop for the length of a lease.
   */
  slidingInvisibilityTimeoutMs?: number;
  /**
   * How long this server can miss heartbeats before it is declared dead and its leases are released; it sends three
   * heartbeats in this period. 5 000 to 3 600 000, default 30 000.
   */
  serverTimeoutMs?: number;
  /**
   * Interval between polls of the queues; 0 to 60 000, default 0. With 0, the server relies on notifications of ready
   * jobs, and polls only in case one was lost: every 2 s while it is idle and notifications arrive, otherwise every
   * 200 ms. With any other interval, the server ignores these notifications.
   */
  queuePollIntervalMs?: number;
}

export interface JobServerOptions extends ServerTimes {
  storage: JobStorage;
  handlers: readonly JobHandler[];
  /** The name of the application that owns the `recurring` jobs. Required if `recurring` is set. */
  application?: string;
  /**
   * All recurring jobs that the application defines in code. When the server starts, the application's stored recurring
   * jobs are changed to match; those added by operators stay. If this option is absent, nothing is changed.
   */
  recurring?: readonly NewRecurringJob[];
  /**
   * The version of the application, 1 to 100 characters. The first server with a new version marks a deployment on the
   * dashboard's charts. None by default.
   */
  version?: string;
  /**
   * Queues to consume, in order of preference or by weight. Defaults to the queues of the handlers' definitions, with
   * equal weights.
   */
  queues?: ServerQueues;
  /** Maximum number of jobs to run at once; 1 to 1000, default 10. */
  concurrency?: number;
  /** How long `stop` waits for running jobs before it aborts their signals; 0 to 3 600 000 ms, default 25 000. */
  stopTimeoutMs?: number;
  /**
   * Maximum size of a result as JSON, in bytes. A larger result fails the attempt. 1 to 67 108 864, default 1 048 576.
   */
  maxResultBytes?: number;
  /**
   * How long a handler can continue after its time limit before the server gives up on it: the server then stores the
   * outcome, and terminates the handler's thread if it has one. 0 to 3 600 000 ms, default 5 000.
   */
  timeoutGraceMs?: number;
  /**
   * Maximum number of threads for handlers with `thread: true`; when all are busy, further jobs wait. 1 to 256; by
   * default, one less than the number of CPU cores, but at least 1. Threads are started on demand.
   */
  threads?: number;
  /**
   * Maximum number of log lines kept per attempt, not counting the line that reports that others were dropped. 0 to
   * 100 000, default 1 000.
   */
  maxLogLines?: number;
  /** Maximum size of a log line, message and fields together, in bytes; 100 to 65 536, default 4 096. */
  maxLogLineBytes?: number;
  /** Middleware that wraps every handler; the first is the outermost. None by default. */
  middleware?: readonly RunMiddleware[];
  /** Writes warnings and errors to the console by default; `silentLogger` discards everything. */
  logger?: Logger;
  /** The host name shown in the list of servers; by default, this machine's host name. */
  host?: string;
}

export interface ResolvedServerOptions extends Required<
  Omit<JobServerOptions, 'application' | 'recurring' | 'queues' | 'version'>
> {
  readonly version: string | null;
  readonly queues: QueueOrder;
  /** `null` if no recurring jobs are defined in code. */
  readonly recurring: { readonly application: string; readonly jobs: readonly NewRecurringJob[] } | null;
}

/**
 * Applies defaults and checks bounds.
 *
 * @throws {RangeError} naming the invalid option and its bounds
 */
export function resolveServerOptions(options: JobServerOptions): ResolvedServerOptions {
  return {
    storage: options.storage,
    handlers: options.handlers,
    recurring: recurringJobs(options),
    queues: new QueueOrder(options.queues ?? queuesOf(options.handlers)),
    concurrency: bounded('concurrency', options.concurrency ?? 10, 1, 1_000),
    slidingInvisibilityTimeoutMs: bounded(
      'slidingInvisibilityTimeoutMs',
      options.slidingInvisibilityTimeoutMs ?? 300_000,
      1_000,
      86_400_000,
    ),
    serverTimeoutMs: bounded('serverTimeoutMs', options.serverTimeoutMs ?? 30_000, 5_000, 3_600_000),
    queuePollIntervalMs: bounded('queuePollIntervalMs', options.queuePollIntervalMs ?? 0, 0, 60_000),
    stopTimeoutMs: bounded('stopTimeoutMs', options.stopTimeoutMs ?? 25_000, 0, 3_600_000),
    maxResultBytes: checkInteger('maxResultBytes', options.maxResultBytes ?? 1_048_576, bounds.documentBytes),
    timeoutGraceMs: bounded('timeoutGraceMs', options.timeoutGraceMs ?? 5_000, 0, 3_600_000),
    threads: bounded('threads', options.threads ?? Math.max(1, availableParallelism() - 1), 1, 256),
    maxLogLines: bounded('maxLogLines', options.maxLogLines ?? 1_000, 0, 100_000),
    maxLogLineBytes: bounded('maxLogLineBytes', options.maxLogLineBytes ?? 4_096, 100, 65_536),
    middleware: options.middleware ?? [],
    logger: guarded(options.logger ?? consoleLogger),
    host: options.host ?? hostname(),
    version: checkVersion(options.version),
  };
}

/**
 * Returns the queues of the handlers' definitions, with equal weights. Without handlers, returns the queue `default`:
 * the server then runs no jobs, but still does background work.
 */
function queuesOf(handlers: readonly JobHandler[]): ServerQueues {
  if (handlers.length === 0) return ['default'];
  return Object.fromEntries(handlers.map(({ definition }) => [definition.queue, 1]));
}

function recurringJobs({
  application,
  recurring: jobs,
}: JobServerOptions): ResolvedServerOptions['recurring'] {
  if (jobs === undefined) return null;
  if (application === undefined)
    throw new RangeError('recurring requires application, the name of their owner');
  const ids = jobs.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new RangeError(`There are two recurring jobs with the id "${twice}"`);
  return { application, jobs };
}

function bounded(name: string, value: number, min: number, max: number): number {
  return checkInteger(name, value, { min, max });
}

function checkVersion(version: string | undefined): string | null {
  if (version === undefined) return null;
  const { min, max } = deploymentBounds.version;
  if (version.length < min || version.length > max)
    throw new RangeError(`version must have ${min} to ${max} characters, not ${version.length}`);
  return version;
}
