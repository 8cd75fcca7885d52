import { defineJob, handleJob, JobClient, JobServer, MemoryStorage } from '@longshore/jobs';
import { type NameTiming, Timing } from '@longshore/jobs/storage';
import { eventually, ManualClock, overriding, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import { failingTypeWarnings, findFailingTypes } from '../src/diagnosis/failures.js';
import { read } from './situation.js';

describe('a job type that fails', () => {
  const charge = defineJob({ name: 'charge-card', queue: 'payments', maxAttempts: 1 });
  const mail = defineJob({ name: 'send-mail', queue: 'mail' });
  let storage: MemoryStorage;
  let client: JobClient;
  beforeEach(() => {
    storage = new MemoryStorage({ clock: new ManualClock() });
    client = new JobClient(storage);
  });
  afterEach(() => storage.close());

  /** Runs `failed` jobs of a type that always fails, and 100 jobs of a type that always succeeds. */
  const run = async (failed: number): Promise<void> => {
    const server = new JobServer({
      storage,
      ...patientServer,
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
    await eventually(
      () => storage.jobs.stateCounts(),
      (counts) => counts.done + counts.failed === 100 + failed,
    );
    await server.stop();
    await storage.maintenance.maintain();
  };

  it('is named, although most jobs of other types are done', async () => {
    await run(12);
    const [warning, ...otherWarnings] = failingTypeWarnings(await findFailingTypes(storage));
    expect(otherWarnings).to.deep.equal([]);
    expect(read(warning?.text ?? [])).to.equal(
      'Job type “charge-card” is failing: 12 jobs had failed attempts in the last 5 minutes, all of them with errors like TypeError: the gateway refused the card.',
    );
  });

  it('links to its page while all of its jobs wait for a retry, because no list of failed jobs has them', async () => {
    await run(12);
    const [type] = await findFailingTypes(storage);
    if (type === undefined) throw new Error('No type is failing');
    const waiting = type.errors.map((error) => ({ ...error, retryable: 0 }));
    const links = failingTypeWarnings([type, { ...type, errors: waiting }]).map(({ link }) => link);
    expect(links).to.deep.equal(['jobs?state=failed&name=charge-card', 'types/charge-card']);
  });

  it('is found in its own queue only', async () => {
    await run(12);
    expect(await findFailingTypes(storage, 'mail')).to.deep.equal([]);
    expect((await findFailingTypes(storage, 'payments')).map(({ name }) => name)).to.deep.equal([
      'charge-card',
    ]);
  });

  it('is described on the page of its queue with what is counted there, and what in all queues', async () => {
    await run(12);
    const [warning] = failingTypeWarnings(await findFailingTypes(storage, 'payments'));
    expect(read(warning?.text ?? [])).to.contain(
      '12 jobs had failed attempts in the last 5 minutes in all queues,',
    );
    expect(warning?.advice).to.match(/^100 % of its attempts in this queue /);
  });

  it('is not reported for a few failures, which may be chance', async () => {
    await run(4);
    expect(await findFailingTypes(storage)).to.deep.equal([]);
  });

  const timing = (done: number, failed: number): NameTiming => {
    const measured = new Timing();
    Object.assign(measured, { done, failed });
    return { name: charge.name, timing: measured };
  };

  it('is reported within a minute, although most of its jobs before were done', async () => {
    await run(12);
    const failing = async (doneInLastMinute: number) =>
      failingTypeWarnings(
        await findFailingTypes({
          statistics: storage.statistics,
          timings: overriding(storage.timings, {
            listNames: async ({ sinceMs }) => [timing(sinceMs === 60_000 ? doneInLastMinute : 900, 12)],
          }),
        }),
      ).map(({ advice }) => advice);
    expect(await failing(4)).to.deep.equal([
      '75 % of its attempts in the last minute failed; it hardly ran in the 24 hours before.',
    ]);
    expect(await failing(180)).to.deep.equal([]);
  });

  it('is reported although it failed the first few times that it ran, which says nothing about what is usual', async () => {
    await run(12);
    const read = async (before: { done: number; failed: number }): Promise<(number | null)[]> => {
      const types = await findFailingTypes({
        statistics: storage.statistics,
        timings: overriding(storage.timings, {
          listNames: async ({ sinceMs }) =>
            sinceMs < 3_600_000 ? [timing(20, 12)] : [timing(20 + before.done, 12 + before.failed)],
        }),
      });
      return types.map(({ usual }) => usual);
    };
    expect(await read({ done: 6, failed: 3 })).to.deep.equal([null]);
    expect(await read({ done: 60, failed: 30 })).to.deep.equal([]);
  });

  it('is not reported any more once its failed jobs have been retried', async () => {
    await run(12);
    for (const { id } of await storage.jobs.list({ filter: { state: ['failed'] }, limit: 50 }))
      await storage.control.retry(id);
    expect(await findFailingTypes(storage)).to.deep.equal([]);
  });
});
