import { parseInteger } from '@longshore/edge';
import type { JobServerOptions, JobStorage, ServerQueues } from '@longshore/jobs';
import type { Logger } from 'pino';
import Type from 'typebox';
import type { LoadedApplication } from './load-application.js';
import { type Config, ConfigError, listOf } from './config.js';
import { refusals } from './refusals.js';
import { serverVariables } from './variables.js';

const variables = Type.Object(serverVariables);

/** Returns the options of a job server that runs the jobs of an application, from environment variables. */
export function jobServerOptions(
  application: LoadedApplication,
  storage: JobStorage,
  config: Config<typeof variables>,
  logger: Logger,
): JobServerOptions {
  const queues = readQueues(config.WORKER_QUEUES);
  return {
    storage,
    client: application.client,
    handlers: application.handlers,
    middleware: application.serverMiddleware,
    application: application.name,
    recurring: application.recurring,
    queueSettings: application.queueSettings,
    warningRules: application.warningRules,
    ...(queues !== null && { queues }),
    concurrency: config.WORKER_CONCURRENCY,
    ...(config.WORKER_VERSION !== '' && { version: config.WORKER_VERSION }),
    serverTimeoutMs: config.WORKER_SERVER_TIMEOUT_MS,
    slidingInvisibilityTimeoutMs: config.WORKER_SLIDING_INVISIBILITY_TIMEOUT_MS,
    queuePollIntervalMs: config.WORKER_QUEUE_POLL_INTERVAL_MS,
    stopTimeoutMs: config.WORKER_STOP_TIMEOUT_MS,
    threads: config.WORKER_THREADS,
    maxLogLines: config.WORKER_JOB_LOG_MAX_LINES,
    maxLogLineBytes: config.WORKER_JOB_LOG_MAX_LINE_BYTES,
    logHandlerLines: config.WORKER_JOB_LOG_STDOUT,
    logger,
  };
}

/**
 * Returns what a job server refuses of its queues, see {@link refusals}.
 *
 * @param create creates a job server
 */
export function queueProblems(
  { WORKER_QUEUES }: Pick<Config<typeof variables>, 'WORKER_QUEUES'>,
  create: (options: { readonly queues?: ServerQueues }) => unknown,
): string[] {
  return refusals({ list: WORKER_QUEUES }, { list: 'WORKER_QUEUES' }, ({ list = '' }) => {
    const queues = readQueues(list);
    create(queues === null ? {} : { queues });
  });
}

/**
 * Parses a list of queues: `critical,default` in strict order, or `critical=6,default=3` with weights.
 *
 * @returns `null` for an empty list
 * @throws {ConfigError} if only some of the queues have a weight
 */
export function readQueues(list: string): ServerQueues | null {
  const entries = listOf(list, 'WORKER_QUEUES');
  if (entries.length === 0) return null;
  const weighted = entries.filter((entry) => entry.includes('='));
  if (weighted.length === 0) return entries;
  if (weighted.length < entries.length) {
    throw new ConfigError('WORKER_QUEUES: give every queue a weight (critical=6,default=3), or none');
  }
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', weight = '', ...excess] = entry.split('=');
      const number = excess.length === 0 ? parseInteger(weight) : undefined;
      if (number === undefined)
        throw new ConfigError(`WORKER_QUEUES: the weight in "${entry}" is not a whole number`);
      return [name, number];
    }),
  );
}
