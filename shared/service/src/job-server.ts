import { type JobHandler, JobServer, type JobStorage } from '@longshore/jobs';
import Type from 'typebox';
import type { Application } from './application.js';
import type { Config } from './config.js';
import type { Logger } from './logger.js';
import { testJobHandler } from './test-job.js';
import { readQueues } from './server-queues.js';
import { serverVariables } from './variables.js';

const variables = Type.Object(serverVariables);

/** A job server for an application's jobs and that of `POST /test`, as the environment describes it. */
export function createJobServer(
  { name: application, recurring = [] }: Pick<Application, 'name' | 'recurring'>,
  applicationHandlers: readonly JobHandler[],
  storage: JobStorage,
  config: Config<typeof variables>,
  logger: Logger,
): JobServer {
  const handlers = [...applicationHandlers, testJobHandler(config.WORKER_RESULTS_DIR)];
  return new JobServer({
    storage,
    handlers,
    application,
    // A process that keeps everything in memory has not every handler, so not every schedule either.
    recurring: recurring.filter(({ name }) => handlers.some(({ definition }) => definition.name === name)),
    queues: readQueues(config.WORKER_QUEUES) ?? handlers.map(({ definition }) => definition.queue),
    concurrency: config.WORKER_CONCURRENCY,
    serverTimeoutMs: config.WORKER_SERVER_TIMEOUT_MS,
    slidingInvisibilityTimeoutMs: config.WORKER_SLIDING_INVISIBILITY_TIMEOUT_MS,
    queuePollIntervalMs: config.WORKER_QUEUE_POLL_INTERVAL_MS,
    stopTimeoutMs: config.WORKER_STOP_TIMEOUT_MS,
    threads: config.WORKER_THREADS,
    maxLogLines: config.WORKER_JOB_LOG_MAX_LINES,
    maxLogLineBytes: config.WORKER_JOB_LOG_MAX_LINE_BYTES,
    logger,
  });
}
