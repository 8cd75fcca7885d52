import { type Job, JobClient, JobServer, MemoryStorage } from '@longshore/jobs';
import { eventually, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import { packParcels, packParcelsHandler } from '../src/jobs/pack-parcels.js';

describe('Packing parcels', () => {
  let storage: MemoryStorage;
  let server: JobServer;

  before(async () => {
    storage = new MemoryStorage();
    server = new JobServer({ storage, handlers: [packParcelsHandler], ...patientServer });
    await server.start();
  });

  after(async () => {
    await server.stop();
    await storage.close();
  });

  async function pack(weights: number[], limit: number): Promise<Job> {
    const { id } = await new JobClient(storage).enqueue(
      packParcels,
      { weights, limit },
      { timeoutMs: 3_600_000 },
    );
    const job = await eventually(
      () => storage.jobs.find(id),
      (found) => found?.finishedAt instanceof Date,
    );
    return job ?? expect.fail('the job is gone');
  }

  it('finds the smallest number of parcels where a greedy algorithm would need one more', async () => {
    const job = await pack([6, 5, 5, 4, 4, 3, 3], 15);
    const { parcels } = job.result as { parcels: number[][] };
    expect(parcels).to.have.length(2);
    expect(parcels.flat()).to.have.members([3, 3, 4, 4, 5, 5, 6]);
    for (const parcel of parcels) expect(parcel.reduce((sum, weight) => sum + weight, 0)).to.be.at.most(15);
  });

  it('fails at once if an item is too heavy for a parcel', async () => {
    const job = await pack([16], 15);
    expect(job).to.include({ state: 'failed', attempt: 1 });
    expect(job.error?.name).to.equal('RangeError');
  });
});
