import { ManualClock, overriding } from '@longshore/test-support';
import { newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { findPausedJobs, pausedTypeWarnings } from '../src/diagnosis/pause.js';
import { SeededStorage } from './seeded-storage.js';
import { nowMs, read } from './situation.js';

describe('Paused job types', () => {
  let storage: SeededStorage;
  const add = (name: string, queue: string, jobs: number): Promise<unknown> =>
    storage.enqueuer.enqueue(
      Array.from({ length: jobs }, () => ({ ...storage.order({ name, queue }), id: newId(nowMs) })),
    );

  beforeEach(async () => {
    storage = new SeededStorage(new ManualClock(new Date(nowMs)));
    for (const name of ['charge-card', 'send-mail', 'unused']) await storage.jobTypes.pause(name);
  });
  afterEach(() => storage.close());

  it('are all found, however many jobs of one of them wait', async () => {
    await add('charge-card', 'payments', 1_000);
    await add('send-mail', 'mail', 1);
    const pausedJobs = await findPausedJobs(storage);
    expect(pausedJobs.map(({ name, queues, jobs }) => ({ name, queues, jobs }))).to.deep.equal([
      { name: 'charge-card', queues: ['payments'], jobs: { count: 200, exact: false } },
      { name: 'send-mail', queues: ['mail'], jobs: { count: 1, exact: true } },
    ]);
  });

  it('have a warning even if it is unknown whether jobs wait', async () => {
    const reader = overriding(storage, {
      jobs: { listBrief: async () => ({ jobs: [], isComplete: false }) },
    });
    const [warning] = pausedTypeWarnings(await findPausedJobs(reader));
    expect(warning && read(warning.text)).to.match(/^Job type “charge-card” was paused/);
    expect(warning?.advice).to.equal('Its jobs do not start. Resume it to let them run.');
  });
});
