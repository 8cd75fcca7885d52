import { expect } from 'chai';
import fc from 'fast-check';
import { it } from 'mocha';
import type { Job } from '@longshore/jobs';
import { isFinished, type Outcome } from '@longshore/jobs/storage';
import { BulkFixture } from './bulk-fixture.js';
import { Chronicle } from './chronicle.js';
import { outcomeOf, resolveAll } from './dependent-job.js';
import { steps, type World } from './resting-steps.js';
import { type Fixture, propertyRuns, yearMs } from './storage-under-test.js';

/** How often the jobs that are left may be run before the test calls them endless. */
const maxRounds = 100;

/** Lets the background work end, and asserts that what the storage has answered so far is true. */
async function expectRest({ fixture, storage, queues, chronicle, before }: World): Promise<void> {
  await storage.maintenance.maintain();
  await resolveAll(storage);
  const contradictions = await chronicle.contradictions(storage, queues);
  if (contradictions.length > 0) throw new Error(contradictions.join('\n'));
  const violations = (await fixture.violations()).filter((violation) => !before.has(violation));
  if (violations.length > 0) throw new Error(violations.join('\n'));
}

async function unfinishedJobs({ storage, queues }: World): Promise<Job[]> {
  const jobs = await storage.jobs.list({ filter: { queue: [...queues] }, limit: 1_000 });
  return jobs.filter(({ state }) => !isFinished(state));
}

/** Runs everything that is left until it ends like this, and asserts that it ends, and all batches with it. */
async function expectEnd(world: World, outcome: Outcome): Promise<void> {
  const { fixture, storage, queues, chronicle, servers } = world;
  let left = await unfinishedJobs(world);
  for (let round = 0; left.length > 0 && round < maxRounds; round++) {
    for (const { id } of left.filter(({ state }) => state === 'scheduled')) await storage.control.run(id);
    const { id: serverId } = servers[0] ?? (await fixture.register(queues[0]));
    for (const queue of queues)
      await storage.claims.claim({ serverId, queue, limit: 1_000, leaseMs: yearMs });
    for (const queue of queues) {
      for (const server of servers) {
        const claims = await storage.claims.claimsOf(server.id, queue);
        await storage.completions.complete(claims.map((claim) => ({ claim, outcome, hasMeta: true })));
      }
    }
    await expectRest(world);
    left = await unfinishedJobs(world);
  }
  expect(left.map(({ id, state }) => `${id} is ${state}`)).to.deep.equal([]);
  for (const id of chronicle.batches.keys())
    expect((await storage.batches.find(id))?.finishedAt, `end of batch ${id}`).to.be.a('date');
}

/** Each act begins when everything before it has ended, so that operators find ended jobs and batches. */
const acts = fc.array(
  fc.record({
    act: fc.array(steps, { minLength: 5, maxLength: 25 }),
    end: fc.constantFrom('done' as const, 'failed' as const),
  }),
  { minLength: 2, maxLength: 2 },
);

/**
 * Defines a test that runs random sequences of what clients, servers and operators do, one after another and at the same
 * time, and lets the storage apply the effects of each job's end on others whenever it comes to it. Asserts that nothing
 * starts that must not, and checks the storage at rest.
 */
export function resting(fixture: Fixture): void {
  it('keeps its word at rest, in whatever order the effects of the ends of jobs are applied', async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (drawn) => {
        const queues = [fixture.newQueue(), fixture.newQueue()] as const;
        const servers = [await fixture.register(queues[0]), await fixture.register(queues[1])];
        const { storage } = fixture;
        const chronicle = new Chronicle();
        const before = new Set(await fixture.violations());
        const bulk = new BulkFixture(fixture);
        const world: World = { fixture, bulk, storage, queues, servers, chronicle, before };
        for (const { act, end } of drawn) {
          for (const step of act) {
            await step(world);
            await chronicle.actionsEnded(storage);
          }
          await expectRest(world);
          await expectEnd(world, outcomeOf[end]);
        }
        await Promise.all(servers.map((server) => server.unregister()));
      }),
      propertyRuns,
    );
  });
}
