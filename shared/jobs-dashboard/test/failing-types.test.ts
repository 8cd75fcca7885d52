import { defineJob, handleJob, JobClient, JobServer, MemoryStorage } from '@longshore/jobs';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { failingTypeWarnings, findFailingTypes } from '../src/diagnosis/failing-types.js';
import { read } from './situation.js';

describe('a job type that fails', () => {
  const charge = defineJob({ name: 'charge-card', queue: 'payments', maxAttempts: 1 });
  const mail = defineJob({ name: 'send-mail', queue: 'mail' });
  let storage: MemoryStorage;
  let client: JobClient;
  beforeEach(() => {
    storage = new MemoryStorage();
    client = new JobClient(storage);
  });
  afterEach(() => storage.close());

  /** Runs `failed` jobs of a type that fails among 100 jobs of one that does not. */
  const run = async (failed: number): Promise<void> => {
    const server = new JobServer({
      storage,
      logger: {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: () => undefined,
      },
      handlers: [
        handleJob(charge, () => Promise.reject(new TypeError('the gateway refused the card'))),
        handleJob(mail, () => undefined),
      ],
    });
    const definitions = [...Array<typeof charge>(failed).fill(charge), ...Array<typeof mail>(100).fill(mail)];
    await client.enqueueMany(definitions.map((definition) => ({ definition, args: {} })));
    await server.start();
    await eventually(async () => {
      const counts = await storage.jobs.stateCounts();
      return counts.done + counts.failed === 100 + failed;
    });
    await server.stop();
    await storage.maintenance.maintain();
  };

  it('is named, although most jobs of other types are done', async () => {
    await run(12);
    const [warning, ...others] = failingTypeWarnings(await findFailingTypes(storage));
    expect(others).to.deep.equal([]);
    expect(read(warning?.text ?? [])).to.equal(
      'Job type “charge-card” is failing: 12 jobs failed in the last 5 minutes, all of them with TypeError: the gateway refused the card.',
    );
  });

  it('is found in its own queue only', async () => {
    await run(12);
    expect(await findFailingTypes(storage, 'mail')).to.deep.equal([]);
    expect((await findFailingTypes(storage, 'payments')).map(({ name }) => name)).to.deep.equal([
      'charge-card',
    ]);
  });

  it('is not reported for a few failures, which may be chance', async () => {
    await run(4);
    expect(await findFailingTypes(storage)).to.deep.equal([]);
  });

  it('is not reported any more once its failed jobs have been retried', async () => {
    await run(12);
    for (const { id } of await storage.jobs.list({ filter: { state: ['failed'] }, limit: 50 }))
      await storage.control.retry(id);
    expect(await findFailingTypes(storage)).to.deep.equal([]);
  });
});
