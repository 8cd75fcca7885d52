import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseInteger } from '@longshore/edge';
import {
  defineJob,
  handleJob,
  type JobHandler,
  JobServer,
  type JobStorage,
  type ServerQueues,
} from '@longshore/jobs';
import type { Logger } from 'pino';
import Type from 'typebox';
import type { AssembledApplication } from './application.js';
import { type Config, ConfigError, listOf } from './config.js';
import { serverVariables } from './variables.js';

const variables = Type.Object(serverVariables);

/**
 * Creates a job server from environment variables. It runs the jobs of the application and the test job (`POST /test`).
 */
export function createJobServer(
  application: AssembledApplication,
  storage: JobStorage,
  config: Config<typeof variables>,
  logger: Logger,
): JobServer {
  const handlers = [...application.handlers, testJobHandler(config.WORKER_RESULTS_DIR)];
  const queues = readQueues(config.WORKER_QUEUES);
  return new JobServer({
    storage,
    handlers,
    application: application.name,
    recurring: application.recurring,
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
    logger,
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

/** The job that `POST /test` enqueues. It shows that the response is sent at once and the work happens later. */
export const testJob = defineJob({
  name: 'test',
  args: Type.Object(
    { waitMs: Type.Integer({ minimum: 0, maximum: 3_600_000, description: 'How long the job takes' }) },
    { additionalProperties: false },
  ),
});

/**
 * Creates a handler that waits and then writes `test-{id}.txt`.
 *
 * @param directory where to write the result files; created if missing
 */
export function testJobHandler(directory: string): JobHandler {
  return handleJob(testJob, async ({ args, job, signal }) => {
    await sleep(args.waitMs, undefined, { signal });
    const file = path.resolve(directory, `test-${job.id}.txt`);
    await mkdir(path.dirname(file), { recursive: true });
    // Idempotent: running the job again writes the same text to the same file.
    await writeFile(file, `Job ${job.id} waited ${args.waitMs} ms outside of the request.\n`);
    return { file, waitedMs: args.waitMs };
  });
}
