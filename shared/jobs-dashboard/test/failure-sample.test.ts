import { ManualClock } from '@longshore/test-support';
import type { Outcome } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { Cache } from '../src/cache/cache.js';
import { readFailureSamples, skippedText } from '../src/diagnosis/failure-sample.js';
import type { FailingType } from '../src/diagnosis/type-health.js';
import { SeededStorage } from './seeded-storage.js';

describe('The sample of the failures of a job type', () => {
  let storage: SeededStorage;
  beforeEach(() => (storage = new SeededStorage(new ManualClock())));
  afterEach(() => storage.close());

  it('counts the dependents that were skipped because of failures since the type began to fail', async () => {
    const { now } = storage.manualClock;
    const { id: serverId } = await storage.servers.register({
      host: 'box',
      pid: 1,
      concurrency: 10,
      queues: ['default'],
      timeoutMs: 3_600_000,
    });
    const fail = async (): Promise<void> => {
      const id = await storage.add({ name: 'charge-card', maxAttempts: 1 });
      for (const name of ['ship', 'notify']) await storage.add({ name, after: id });
      const job = await storage.start(serverId, 'default');
      await storage.end(job, { kind: 'failed', error: { name: 'Error', message: 'declined', stack: null } });
      storage.manualClock.advance(60_000);
    };
    await fail();
    const beganAt = now();
    for (let count = 0; count < 3; count++) await fail();
    const failing = { name: 'charge-card', shift: { beganAt } } as unknown as FailingType;
    const samples = await readFailureSamples([failing], { reader: storage, cache: new Cache(0, now) });
    const sample = samples.get('charge-card');
    expect(sample && skippedText(sample)).to.equal('6 dependents of the latest 3 failed jobs were skipped.');
  });

  it('names the version of servers that have stopped, also if the jobs wait for a retry', async () => {
    const run = async (version: string, fails: boolean): Promise<void> => {
      const server = await storage.servers.register({
        host: 'box',
        pid: 1,
        concurrency: 100,
        queues: ['default'],
        timeoutMs: 3_600_000,
        version,
      });
      for (let count = 0; count < 30; count++) {
        await storage.add({ name: 'charge-card' });
        const job = await storage.start(server.id, 'default');
        const error = { name: 'Error', message: 'declined', stack: null };
        const failed: Outcome =
          count % 3 === 0 ? { kind: 'failed', error } : { kind: 'retry', error, delayMs: 3_600_000 };
        await storage.end(job, fails ? failed : { kind: 'done', result: 'null' });
      }
      await server.unregister();
    };
    const { now } = storage.manualClock;
    await run('2.3.8', true); // long before the type began to fail
    storage.manualClock.advance(60_000);
    const beganAt = now();
    await run('2.4.0', true);
    await run('2.3.9', false);
    const failing = { name: 'charge-card', shift: { beganAt } } as unknown as FailingType;
    const samples = await readFailureSamples([failing], { reader: storage, cache: new Cache(0, now) });
    expect(samples.get('charge-card')?.traits.map(({ what, failures }) => [what, failures])).to.deep.equal([
      ['version 2.4.0', { hits: 30, of: 30 }],
    ]);
  });

  it('says nothing about dependents if none were skipped', () => {
    expect(skippedText({ skipped: { count: 0, exact: true }, failed: 5 })).to.equal('');
  });
});
