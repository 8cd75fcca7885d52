import { defineJob, handleJob, JobClient, JobServer, silentLogger } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import * as z from 'zod';
import { PostgresStorage, type PostgresOptions } from '../../src/index.js';

/** Defines the tests of `longshore.enqueue()` that run on a single Postgres server as well as on a Citus cluster. */
export function describeSqlEntrance(
  title: string,
  createDatabase: () => Promise<TestDatabase>,
  options: Pick<PostgresOptions, 'distribution'> = {},
): void {
  describe(title, () => {
    let database: TestDatabase;
    let storage: PostgresStorage;

    before(async () => {
      database = await createDatabase();
      storage = new PostgresStorage({ url: database.url, ...patientStorage, ...options });
      await storage.open();
    });
    after(async () => {
      await storage.close();
      await database.drop();
    });

    const enqueue = async (call: string): Promise<string> =>
      (await database.query<{ id: string }>(`select longshore.enqueue(${call}) as id`))[0]?.id ?? '';

    it('returns the job that holds a unique key, until that job has finished', async () => {
      const call = `'work', queue => 'unique', unique_key => 'a'`;
      const first = await enqueue(call);
      expect(await enqueue(call)).to.equal(first);
      await storage.control.cancel(first);
      const second = await enqueue(call);
      expect(second).not.to.equal(first);
      expect(await enqueue(call)).to.equal(second);
    });

    it('shares unique keys with clients', async () => {
      const id = await enqueue(`'work', queue => 'shared', unique_key => 'a'`);
      const work = defineJob({ name: 'work', queue: 'shared' });
      const enqueued = await new JobClient(storage).enqueue(work, {}, { unique: { key: 'a' } });
      expect(enqueued).to.deep.equal({ id, queue: 'shared', created: false });
    });

    it('creates one job for 20 concurrent callers with a unique key', async () => {
      const ids = await Promise.all(
        Array.from({ length: 20 }, () => enqueue(`'work', queue => 'crowd', unique_key => 'a'`)),
      );
      expect(new Set(ids).size).to.equal(1);
      expect((await storage.jobs.count({ queue: ['crowd'] })).count).to.equal(1);
    });

    for (const [when, more] of [
      ['ready at once', ''],
      ['due later', `, run_at => '2100-01-01Z'`],
      ['held by a concurrency key', `, concurrency_key => 'tenant', concurrency_limit => 3`],
    ] as const)
      it(`stores the keys that it was given with the job, if this is ${when}`, async () => {
        const id = await enqueue(`'work', queue => 'read', unique_key => 'key of ${when}'${more}`);
        const { unique, concurrencyKey, concurrencyLimit } = (await storage.jobs.find(id)) ?? {};
        expect([unique?.key, unique?.onConflict]).to.deep.equal([`key of ${when}`, 'keep']);
        const isHeld = more.includes('concurrency');
        expect([concurrencyKey, concurrencyLimit]).to.deep.equal(isHeld ? ['tenant', 3] : [null, null]);
      });

    it('blocks a job whose concurrency key has reached its limit', async () => {
      for (let n = 0; n < 3; n++)
        await enqueue(`'work', queue => 'keyed', concurrency_key => 'tenant', concurrency_limit => 2`);
      const description = { host: 'x', pid: 1, queues: ['keyed'], concurrency: 1, timeoutMs: 3_600_000 };
      const server = await storage.servers.register(description);
      while ((await storage.maintenance.resolveDependencies(100)) > 0);
      const claimed = await storage.claims.claim({
        serverId: server.id,
        queue: 'keyed',
        limit: 10,
        leaseMs: 3_600_000,
      });
      await server.unregister();
      expect(claimed).to.have.length(2);
    });

    it('returns the job that holds a unique key in the queue that it was moved to', async () => {
      const call = `'work', queue => 'left', unique_key => 'a'`;
      const id = await enqueue(call);
      await storage.control.edit([id], async (current) => {
        const { priority, args, runAt } = current.get(id) ?? expect.fail('The job is gone');
        return new Map([[id, { queue: 'reached', priority, args: JSON.stringify(args), runAt }]]);
      });
      expect(await enqueue(call)).to.equal(id);
      await storage.control.cancel(id);
      expect(await enqueue(call)).not.to.equal(id);
    });

    it('has its arguments checked against the definition before the job runs, and changed as the schema says', async () => {
      const args = z.object({ to: z.string(), copies: z.number().default(1) });
      const print = defineJob({ name: 'print', queue: 'printing', args });
      const received: unknown[] = [];
      const handler = handleJob(print, (context) => {
        received.push(context.args);
      });
      const good = await enqueue(`'print', queue => 'printing', args => '{"to": "Delft"}'`);
      const bad = await enqueue(`'print', queue => 'printing', args => '{"to": 7}'`);
      const server = new JobServer({ storage, handlers: [handler], ...patientServer, logger: silentLogger });
      await server.start();
      const ends = await eventually(
        () => Promise.all([good, bad].map((id) => storage.jobs.find(id))),
        (jobs) => jobs.every((job) => job !== null && job.finishedAt !== null),
      );
      await server.stop();
      expect(ends.map((job) => [job?.state, job?.attempt])).to.deep.equal([
        ['done', 1],
        ['failed', 1],
      ]);
      expect(ends[1]?.error?.message).to.contain('args.to is not valid');
      expect(received).to.deep.equal([{ to: 'Delft', copies: 1 }]);
    });

    for (const [title, call] of [
      ['an empty key', `'work', unique_key => ''`],
      ['a concurrency key without a limit', `'work', concurrency_key => 'a'`],
      ['a priority out of bounds', `'work', priority => 101`],
      ['a time that never comes', `'work', run_at => 'infinity'`],
      ['a time after 9999', `'work', run_at => '10000-01-01'`],
      ['a time before 1970', `'work', run_at => '1969-12-31'`],
      ['arguments nested too deep', `'work', args => (repeat('[', 102) || repeat(']', 102))::jsonb`],
      ['a concurrency limit out of bounds', `'work', concurrency_key => 'a', concurrency_limit => 0`],
    ] as const) {
      it(`rejects ${title}`, async () => {
        const problem = await enqueue(call).catch((error: unknown) => error);
        expect(problem).to.be.instanceOf(Error).with.property('code', '22023');
      });
    }
  });
}
