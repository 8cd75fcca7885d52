import { eventually, patientServer } from '@longshore/test-support';
import {
  type Job,
  type JobHandler,
  JobServer,
  type JobServerOptions,
  type JobState,
  type JobStorage,
  silentLogger,
} from '../../src/index.js';

/**
 * Starts a server for the queue, runs `work`, and stops the server. What is still running then does not matter to the
 * tests.
 */
export async function whileServing<Result>(
  storage: JobStorage,
  queue: string,
  handlers: readonly JobHandler[],
  work: (server: JobServer) => Promise<Result>,
  options: Partial<JobServerOptions> = {},
): Promise<Result> {
  const server = new JobServer({
    storage,
    handlers,
    queues: [queue],
    logger: silentLogger,
    ...patientServer,
    stopTimeoutMs: 100,
    ...options,
  });
  await server.start();
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** Waits until a job is in this state, and resolves to the job. */
export async function jobInState(storage: JobStorage, id: string, state: JobState): Promise<Job> {
  return eventually(async () => {
    const job = await storage.jobs.find(id);
    if (job?.state !== state) throw new Error(`Job ${id} is ${job?.state ?? 'deleted'}, not ${state}`);
    return job;
  });
}
