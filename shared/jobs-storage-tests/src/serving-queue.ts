import { eventually, patientServer } from '@longshore/test-support';
import {
  type Job,
  type JobHandler,
  JobServer,
  type JobServerOptions,
  type JobState,
  silentLogger,
} from '@longshore/jobs';
import type { Fixture } from './storage-under-test.js';

/**
 * Options of servers in these tests, which slowness cannot get into trouble. What a server is still running when a test
 * ends does not matter.
 */
export const steadyServer = { ...patientServer, stopTimeoutMs: 100, logger: silentLogger } as const;

/** Runs `work` while a server with these handlers consumes the queue. */
export async function whileServing<Result>(
  fixture: Fixture,
  queue: string,
  handlers: readonly JobHandler[],
  work: (server: JobServer) => Promise<Result>,
  options: Partial<JobServerOptions> = {},
): Promise<Result> {
  const { storage } = fixture;
  const server = new JobServer({
    storage,
    handlers,
    queues: [queue],
    ...steadyServer,
    ...options,
  });
  await server.start();
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

export async function jobInState(fixture: Fixture, id: string, state: JobState): Promise<Job> {
  return eventually(async () => {
    const job = await fixture.storage.jobs.find(id);
    if (job?.state !== state) throw new Error(`Job ${id} is ${job?.state ?? 'deleted'}, not ${state}`);
    return job;
  });
}
