import { JobServer, type JobStorage } from '@longshore/jobs';
import Type from 'typebox';
import type { AssembledApplication } from './application.js';
import type { Config } from './config.js';
import type { Logger } from './logger.js';
import { testJobHandler } from './test-job.js';
import { readQueues } from './server-queues.js';
import { serverVariables } from './variables.js';

const variables = Type.Object(serverVariables);

/** Creates a job server for the jobs of an application and of `POST /test`, as the environment configures it. */
export function createJobServer(
  application: AssembledApplication,
  storage: JobStorage,
  config: Config<typeof variables>,
  logger: Logger,
): JobServer {
  const handlers = [...application.handlers, testJobHandler(config.RESULTS_DIR)];
  return new JobServer({
    storage,
    handlers,
    application: application.name,
    recurring: application.recurring,
    queues: readQueues(config.WORKER_QUEUES) ?? handlers.map(({ definition }) => definition.queue),
    concurrency: config.WORKER_CONCURRENCY,
    serverTimeoutMs: config.SERVER_TIMEOUT_MS,
    slidingInvisibilityTimeoutMs: config.SLIDING_INVISIBILITY_TIMEOUT_MS,
    queuePollIntervalMs: config.QUEUE_POLL_INTERVAL_MS,
    stopTimeoutMs: config.STOP_TIMEOUT_MS,
    threads: config.WORKER_THREADS,
    maxLogLines: config.JOB_LOG_MAX_LINES,
    maxLogLineBytes: config.JOB_LOG_MAX_LINE_BYTES,
    logger,
  });
}
