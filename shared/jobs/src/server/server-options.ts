import { availableParallelism, hostname } from 'node:os';
import { bounds, checkInteger } from '../job/bounds.js';
import type { NewRecurringJob } from '../recurring/recurring-job.js';
import type { JobStorage } from '../storage/storage.js';
import type { JobHandler, RunMiddleware } from './handler.js';
import { guarded, type Logger, silentLogger } from './logger.js';
import { QueueOrder, type ServerQueues } from './queue-order.js';

/** Times that rule how servers and their storage work together; the names are the field's. All in milliseconds. */
export interface ServerTimes {
  /**
   * How long a claim stays invisible to other servers without being renewed; it is renewed each fifth of this.
   * 1 000 to 86 400 000, default 300 000. Shorter brings back the jobs of a wedged server sooner; a blocked event
   * loop must be shorter than this.
   */
  slidingInvisibilityTimeoutMs?: number;
  /**
   * Silence after which this server is declared dead and its claims are released; the heartbeat goes out each third
   * of this. 5 000 to 3 600 000, default 30 000.
   */
  serverTimeoutMs?: number;
  /**
   * 0: no delay, the server waits for a wake-up and looks every 200 ms for those that got lost. Above 0: it looks at
   * that interval only. Up to 60 000, default 0.
   */
  queuePollIntervalMs?: number;
}

export interface JobServerOptions extends ServerTimes {
  storage: JobStorage;
  handlers: readonly JobHandler[];
  /** The name of the application, whose recurring jobs `recurring` are. */
  application?: string;
  /**
   * The recurring jobs of the application: all of them. When the server starts, the storage's become these; what
   * operators added stays. Left out: nothing is changed.
   */
  recurring?: readonly NewRecurringJob[];
  /** Queues to take jobs from: the first ones first, or by weight. `['default']` unless given. */
  queues?: ServerQueues;
  /** How many jobs run at once; 1 to 1000, default 10. */
  concurrency?: number;
  /** How long `stop` lets running jobs finish before their signals abort; 0 to 3 600 000 ms, default 25 000. */
  stopTimeoutMs?: number;
  /** How many bytes a job's result may take as JSON before its attempt fails; 1 to 67 108 864, default 1 048 576. */
  maxResultBytes?: number;
  /**
   * How long a handler may go on after its job's timeout before its job goes on without it; 0 to 3 600 000 ms, default
   * 5 000.
   */
  timeoutGraceMs?: number;
  /**
   * Most threads for handlers with `thread: true`; further such jobs wait for one. 1 to 256; by default one less than there are
   * processor cores, at least 1. A thread is started when it is first needed.
   */
  threads?: number;
  /** How many lines an attempt's log keeps; one more says that others were dropped. 0 to 100 000, default 1 000. */
  maxLogLines?: number;
  /** How many bytes a line of an attempt's log may take, message and fields together; 100 to 65 536, default 4 096. */
  maxLogLineBytes?: number;
  /** Around every handler, the first outermost; none by default. */
  middleware?: readonly RunMiddleware[];
  logger?: Logger;
  /** The host's name, as people will see it. */
  host?: string;
}

export interface ResolvedServerOptions extends Required<
  Omit<JobServerOptions, 'application' | 'recurring' | 'queues'>
> {
  readonly queues: QueueOrder;
  /** `null`: none are defined in code. */
  readonly recurring: { readonly application: string; readonly jobs: readonly NewRecurringJob[] } | null;
}

/** @throws {RangeError} that names the option and its bounds */
export function resolveServerOptions(options: JobServerOptions): ResolvedServerOptions {
  return {
    storage: options.storage,
    handlers: options.handlers,
    recurring: recurringJobs(options),
    queues: new QueueOrder(options.queues ?? ['default']),
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
    logger: guarded(options.logger ?? silentLogger),
    host: options.host ?? hostname(),
  };
}

function recurringJobs({
  application,
  recurring: jobs,
}: JobServerOptions): ResolvedServerOptions['recurring'] {
  if (jobs === undefined) return null;
  if (application === undefined) throw new RangeError('recurring needs application, the name of their owner');
  const ids = jobs.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new RangeError(`Two recurring jobs have the id "${twice}"`);
  return { application, jobs };
}

function bounded(name: string, value: number, least: number, most: number): number {
  return checkInteger(name, value, { least, most });
}
