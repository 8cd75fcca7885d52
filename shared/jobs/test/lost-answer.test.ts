import { eventually, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import {
  defineJob,
  handleJob,
  JobClient,
  JobServer,
  MemoryStorage,
  StorageUnavailableError,
} from '../src/index.js';

/** Carries out the first claim that finds jobs, but throws as if the connection had been cut before the response. */
class StorageBehindACutConnection extends MemoryStorage {
  cut = true;

  constructor() {
    super();
    const claim = this.claims.claim.bind(this.claims);
    this.claims.claim = async (request) => {
      const jobs = await claim(request);
      if (jobs.length === 0 || !this.cut) return jobs;
      this.cut = false;
      throw new StorageUnavailableError('the connection was cut');
    };
  }
}

describe('A claim whose response was lost', () => {
  it('is released, so that its job runs as its first attempt', async () => {
    const storage = new StorageBehindACutConnection();
    const work = defineJob({ name: 'work' });
    const attempts: number[] = [];
    const handler = handleJob(work, ({ job }) => void attempts.push(job.attempt));
    const server = new JobServer({ storage, handlers: [handler], ...patientServer });
    await server.start();
    await new JobClient(storage).enqueue(work, {});
    await eventually(() => attempts.length > 0);
    await server.stop();
    await storage.close();
    expect([storage.cut, attempts]).to.deep.equal([false, [1]]);
  });
});
