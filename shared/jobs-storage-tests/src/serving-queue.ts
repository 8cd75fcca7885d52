import {
  type Job,
  type JobHandler,
  JobServer,
  type JobServerOptions,
  type JobState,
  silentLogger,
} from '@longshore/jobs';
import { type Fixture, until } from './storage-under-test.js';

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
    logger: silentLogger,
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

export async function jobInState(fixture: Fixture, id: string, state: JobState): Promise<Job> {
  return until(async () => {
    const job = await fixture.storage.jobs.find(id);
    return job?.state === state ? job : undefined;
  });
}
