import { defineJob, defineRecurringJob, JobClient } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';

/** Ids of items whose dashboard pages are measured. */
export interface Landmarks {
  /** Id of a job with a parent and two levels of dependents. */
  readonly graphId: string;
  readonly batchId: string;
  readonly recurringId: string;
}

const manyDependents = 8;
const savedSearches = 100;
const recurringJobs = 50;
const deployments = 20;

/**
 * Adds a graph of dependent jobs, a batch, recurring jobs, saved searches and deployments. Returns the ids of a job in
 * the graph, the batch and one of the recurring jobs.
 */
export async function addLandmarks(url: string): Promise<Landmarks> {
  const storage = new PostgresStorage({ url });
  await storage.open();
  try {
    const client = new JobClient(storage);
    const step = defineJob({ name: 'graph-step', queue: 'graph' });
    const first = await client.enqueue(step, {});
    const middle = await client.enqueue(step, {}, { after: { parents: [first.id] } });
    for (let n = 0; n < manyDependents; n += 1) {
      const child = await client.enqueue(step, {}, { after: { parents: [middle.id] } });
      for (let m = 0; m < 3; m += 1) await client.enqueue(step, {}, { after: { parents: [child.id] } });
    }
    const batch = await client.enqueueBatch({
      name: 'nightly',
      jobs: Array.from({ length: 100 }, (_each, n) => ({ definition: step, args: { n } })),
      callback: { definition: step, args: {} },
    });
    for (let n = 0; n < recurringJobs; n += 1)
      await storage.recurring.addOrUpdate(
        defineRecurringJob({ id: `recurring-${n}`, definition: step, args: {}, cron: `${n} 3 * * *` }),
      );
    for (let n = 0; n < savedSearches; n += 1)
      await storage.savedSearches.save({
        name: `Search ${n}`,
        query: `name=name-${n}&state=failed`,
        savedBy: 'bench',
      });
    const now = storage.clock.now();
    for (let n = 0; n < deployments; n += 1)
      await storage.deployments.record({ version: `1.${n}.0`, at: new Date(now - n * 86_400_000) });
    return { graphId: middle.id, batchId: batch.id, recurringId: 'recurring-0' };
  } finally {
    await storage.close();
  }
}
