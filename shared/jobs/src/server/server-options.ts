import { checkWarningRules, type WarningRule } from '../storage/warning-rules.js';
import { deploymentBounds } from '../storage/deployments.js';
import { JobClient } from '../client/job-client.js';
import { availableParallelism, hostname } from 'node:os';
import { isBoolean, isTextOf } from '../job/argument-check.js';
import { bounds, checkInteger, checkText } from '../job/bounds.js';
import { type Check, checkOptions, type OptionNames } from '../job/options.js';
import type { QueuesInCode } from '../job/queue-in-code.js';
import { shown } from '../job/shown.js';
import type { NewRecurringJob } from '../recurring/recurring-job.js';
import { checkQueuesInCode } from '../storage/queue-synchronization.js';
import { checkStorage, type JobStorage } from '../storage/storage.js';
import { isHandlerList, type JobHandler, type RunMiddleware } from './handler.js';
import { consoleLogger, guarded, isLogger, type Logger } from './logger.js';
import { withOutageOf } from './storage-outage.js';
import { isMiddlewareList } from '../job/middleware.js';
import { QueueOrder, type ServerQueues } from './queue-order.js';

/** Times of a server, in milliseconds: leases, heartbeats and polling. */
export interface ServerTimes {
  /**
   * How long a lease lasts without renewal. The server renews leases five times in this period. 1,000 to 86,400,000,
   * default 300,000. With a shorter lease, the jobs of a stuck server are recovered sooner. A handler must never block
   * the event loop for the length of a lease.
   */
  slidingInvisibilityTimeoutMs?: number;
  /**
   * How long the server can miss heartbeats before it is declared dead and its leases are released. The server sends
   * three heartbeats in this period. 5,000 to 3,600,000, default 30,000.
   */
  serverTimeoutMs?: number;
  /**
   * Interval between polls of the queues; 0 to 60,000, default 0. With 0, the server relies on notifications of ready
   * jobs, and polls in case a notification was lost: every 2 s while it is idle and notifications arrive, otherwise
   * every 200 ms. With an interval above 0, the server ignores these notifications.
   */
  queuePollIntervalMs?: number;
}

export interface JobServerOptions extends ServerTimes {
  storage: JobStorage;
  handlers: readonly JobHandler[];
  /**
   * The client that handlers enqueue with, through their context: its middleware and limits apply. By default, a client
   * with default options on this storage.
   */
  client?: JobClient;
  /**
   * The name of the application that owns the `recurring` jobs, the `queueSettings` and the `warningRules`, 1 to 200
   * characters. Required if one of them is set.
   */
  application?: string;
  /**
   * All recurring jobs that the application defines in code. When the server starts, it changes the application's
   * stored recurring jobs to match these. Recurring jobs added by operators stay. If this option is absent, nothing is
   * changed.
   */
  recurring?: readonly NewRecurringJob[];
  /**
   * The limits and pauses of queues that the application defines in code, by the names of the queues. When the server
   * starts, it applies what has changed since the code last did: a change by an operator lasts until then, and the queue's
   * `inCode` shows it. If this option is absent, nothing is changed.
   */
  queueSettings?: QueuesInCode;
  /**
   * The rules for the dashboard's warnings that the application defines in code. When the server starts, it changes the
   * application's stored rules to match these. If this option is absent, nothing is changed.
   */
  warningRules?: readonly WarningRule[];
  /**
   * The version of the application, 1 to 100 characters. When the first server with a new version starts, the
   * dashboard's charts mark a deployment. None by default.
   */
  version?: string;
  /**
   * The queues to consume, in strict order or by weight. By default, the queues of the handlers' definitions, with
   * equal weights.
   */
  queues?: ServerQueues;
  /** Maximum number of jobs to run at once; 1 to 1000, default 10. */
  concurrency?: number;
  /** How long `stop` waits for running jobs before it aborts their signals; 0 to 3,600,000 ms, default 25,000. */
  stopTimeoutMs?: number;
  /**
   * Maximum size of a result as JSON, in bytes. A larger result fails the attempt. 1 to 67,108,864, default 1,048,576.
   */
  maxResultBytes?: number;
  /**
   * How long a handler can continue after its time limit, in milliseconds. After this time, the server stores the
   * outcome without waiting for the handler. A handler in a worker thread has this time after any abort of its signal;
   * the server then terminates the thread. 0 to 3,600,000, default 5,000.
   */
  timeoutGraceMs?: number;
  /**
   * Maximum number of threads for handlers with `thread: true`. If all are busy, further jobs wait. 1 to 256; by
   * default, one less than the number of CPU cores, but at least 1. Threads start on demand.
   */
  threads?: number;
  /**
   * Maximum number of log lines per attempt. If lines are dropped, one further line reports this. 0 to 100,000, default
   * 1,000.
   */
  maxLogLines?: number;
  /** Maximum size of a log line (message and fields) in bytes; 100 to 65,536, default 4,096. */
  maxLogLineBytes?: number;
  /** Whether the log lines of handlers also go to `logger`, with their job and its trace id; `false` by default. */
  logHandlerLines?: boolean;
  /** Middleware around every handler. The first one is the outermost. None by default. */
  middleware?: readonly RunMiddleware[];
  /** By default, writes warnings and errors to the console. `silentLogger` discards everything. */
  logger?: Logger;
  /** The host name for the list of servers, 1 to 255 characters; by default, this machine's host name. */
  host?: string;
}

export interface ResolvedServerOptions extends Required<
  Omit<
    JobServerOptions,
    'application' | 'recurring' | 'queueSettings' | 'warningRules' | 'queues' | 'version'
  >
> {
  readonly version: string | null;
  readonly queues: QueueOrder;
  /** `null` if the `recurring` option is absent. */
  readonly recurring: { readonly application: string; readonly jobs: readonly NewRecurringJob[] } | null;
  /** `null` if the `queueSettings` option is absent. */
  readonly queueSettings: { readonly application: string; readonly queues: QueuesInCode } | null;
  /** `null` if the `warningRules` option is absent. */
  readonly warningRules: { readonly application: string; readonly rules: readonly WarningRule[] } | null;
}

const isClient: Check = (what, value) => {
  if (value instanceof JobClient) return;
  throw new TypeError(`${what} must be a client, such as new JobClient(storage), not ${shown(value)}`);
};

export const serverOptions: OptionNames<JobServerOptions> = {
  storage: true,
  handlers: true,
  client: isClient,
  application: isTextOf({ min: 1, max: 200 }),
  recurring: true,
  queueSettings: true,
  warningRules: true,
  version: true,
  queues: true,
  concurrency: true,
  slidingInvisibilityTimeoutMs: true,
  serverTimeoutMs: true,
  queuePollIntervalMs: true,
  stopTimeoutMs: true,
  maxResultBytes: true,
  timeoutGraceMs: true,
  threads: true,
  maxLogLines: true,
  maxLogLineBytes: true,
  logHandlerLines: isBoolean,
  middleware: isMiddlewareList,
  logger: isLogger,
  host: isTextOf({ min: 1, max: 255 }),
};

/**
 * Applies defaults and checks bounds.
 *
 * @throws {RangeError} if an option is out of bounds; the message names the option
 * @throws {TypeError} if an option is unknown or of the wrong kind
 */
export function resolveServerOptions(options: JobServerOptions): ResolvedServerOptions {
  checkOptions('JobServer', options, serverOptions);
  checkStorage('JobServer', options.storage, ['claims', 'completions', 'servers', 'maintenance']);
  isHandlerList('JobServer: handlers', options.handlers);
  return {
    storage: options.storage,
    handlers: options.handlers,
    client: options.client ?? new JobClient(options.storage),
    recurring: recurringJobs(options),
    queueSettings: queueSettings(options),
    warningRules: warningRules(options),
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
    logHandlerLines: options.logHandlerLines ?? false,
    middleware: options.middleware ?? [],
    logger: withOutageOf(options.logger ?? consoleLogger, guarded(options.logger ?? consoleLogger)),
    host: options.host ?? hostname(),
    version: checkVersion(options.version),
  };
}

/**
 * Returns the queues of the handlers' definitions, with equal weights. Without handlers, returns the queue `default`.
 * The server then runs no jobs, but still does background work.
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
  if (!Array.isArray(jobs) || !jobs.every(isRecurringJob))
    throw new TypeError(
      'JobServer: recurring must be a list of recurring jobs, such as [defineRecurringJob({ … })]',
    );
  if (application === undefined)
    throw new RangeError('recurring requires application, the name of their owner');
  const ids = jobs.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new RangeError(`There are two recurring jobs with the id "${twice}"`);
  return { application, jobs };
}

function queueSettings({
  application,
  queueSettings: queues,
}: JobServerOptions): ResolvedServerOptions['queueSettings'] {
  if (queues === undefined) return null;
  if (application === undefined)
    throw new RangeError('queueSettings requires application, the name of their owner');
  checkQueuesInCode('JobServer: queueSettings', application, queues);
  return { application, queues };
}

function warningRules({
  application,
  warningRules: rules,
}: JobServerOptions): ResolvedServerOptions['warningRules'] {
  if (rules === undefined) return null;
  if (application === undefined)
    throw new RangeError('warningRules requires application, the name of their owner');
  checkWarningRules('JobServer: warningRules', rules);
  return { application, rules };
}

function isRecurringJob(value: unknown): value is NewRecurringJob {
  return typeof value === 'object' && value !== null && 'cron' in value && 'args' in value;
}

function bounded(name: string, value: number, min: number, max: number): number {
  return checkInteger(name, value, { min, max });
}

function checkVersion(version: string | undefined): string | null {
  if (version === undefined) return null;
  return checkText('version', version, deploymentBounds.version);
}
