import { defineJob, type Job, JobClient, type JobStorage, MemoryStorage } from '@longshore/jobs';
import {
  createResourceApi,
  type Database,
  defineResource,
  inTransaction,
  tableStorage,
} from '@longshore/resources';
import { MemoryDatabase } from '@longshore/resources/memory-database';
import { createTestDatabase, patientStorage, serve } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import { PostgresStorage } from 'longshore';
import pg from 'pg';
import Type from 'typebox';

const args = Type.Object({ parcel: Type.Integer() });
const pack = defineJob({ name: 'pack', args, result: Type.Object({ kilograms: Type.Number() }) });
const send = defineJob({ name: 'send', args });

const parcels = defineResource(
  {
    name: 'parcels',
    item: Type.Object({ id: Type.Integer(), state: Type.String() }),
    serverSet: ['state'],
    operations: {
      prepare: { summary: 'Prepare the parcel', enqueues: true },
      collect: { summary: 'Collect the parcel', enqueues: true },
      spoil: { summary: 'Fail after enqueueing', enqueues: true },
    },
  },
  tableStorage({
    name: 'parcel',
    operations: {
      prepare: async ({ item, enqueue, enqueueMany }) => {
        const unique = { key: `parcel ${item.id}` };
        const packing = await enqueue(pack, { parcel: item.id }, { unique, priority: -5, tags: ['first'] });
        await enqueueMany([
          { definition: send, args: { parcel: item.id }, options: { after: { parents: [packing.id] } } },
          { definition: send, args: { parcel: item.id }, options: { queue: 'later', delayMs: 60_000 } },
        ]);
        return { state: packing.created ? 'new' : 'again' };
      },
      collect: async ({ item, enqueueBatch }) => {
        await enqueueBatch({
          name: `parcel ${item.id}`,
          jobs: [{ definition: pack, args: { parcel: item.id } }],
          callback: { definition: send, args: { parcel: item.id } },
        });
      },
      spoil: async ({ item, enqueue }) => {
        // @ts-expect-error a parcel is a number
        await enqueue(pack, { parcel: item.state }).catch(() => undefined);
        await enqueue(pack, { parcel: item.id });
        throw new Error('spoilt');
      },
    },
  }),
);

const createTable = `create table parcel (id integer primary key, state text not null default 'none')`;

interface Opened {
  readonly database: Database;
  readonly storage: JobStorage;
  readonly close: () => Promise<unknown>;
}

const stores: Readonly<Record<string, () => Promise<Opened>>> = {
  Postgres: async () => {
    const created = await createTestDatabase(async () => undefined);
    const database = new pg.Pool({ connectionString: created.url, max: 3 });
    const storage = new PostgresStorage({ url: created.url, ...patientStorage });
    await storage.open();
    const close = async () => {
      await Promise.all([database.end(), storage.close()]);
      await created.drop();
    };
    return { database, storage, close };
  },
  memory: async () => {
    const database = new MemoryDatabase();
    const storage = new MemoryStorage({ transaction: (work) => inTransaction(database, work) });
    return { database, storage, close: () => Promise.all([database.close(), storage.close()]) };
  },
};

for (const [kind, open] of Object.entries(stores)) {
  describe(`The operations of resources, with jobs in ${kind}`, () => {
    let opened: Opened;
    let server: Awaited<ReturnType<typeof serve>>;

    before(async () => {
      opened = await open();
      const { database, storage } = opened;
      const client = new JobClient(storage);
      const app = new Koa();
      app.use(
        createResourceApi({
          resources: [parcels],
          baseUrl: 'https://api.example.com',
          log: { incident: () => undefined },
          platform: { database, jobs: (transaction) => client.boundTo(() => ({ transaction })) },
        }),
      );
      const handle = app.callback();
      server = await serve((request, response) => void handle(request, response));
      await database.query(createTable);
      await database.query('insert into parcel (id) values (1), (2), (3)');
    });

    after(async () => {
      await server.close();
      await opened.close();
    });

    const operate = (path: string): Promise<Response> =>
      fetch(`${server.url}/api/v1/parcels/${path}`, {
        method: 'PUT',
        headers: { prefer: 'respond-async', 'content-type': 'application/json' },
      });
    const jobsOf = async (parcel: number): Promise<Job[]> =>
      opened.storage.jobs.list({
        filter: { args: [{ path: ['parcel'], values: [parcel] }] },
        order: 'oldest',
        limit: 10,
      });
    const locationOf = ({ id }: { id: string } = { id: 'no job' }): string =>
      `https://api.example.com/api/v1/jobs/${id}`;

    it('enqueue with every option, and a repeated unique key finds the first job', async () => {
      expect((await operate('1/prepare')).status).to.equal(202);
      const answer = await operate('1/prepare');
      expect(await answer.json()).to.deep.include({ state: 'again' });
      const jobs = await jobsOf(1);
      expect(jobs.map(({ name, queue, state }) => [name, queue, state])).to.deep.equal([
        ['pack', 'default', 'enqueued'],
        ['send', 'default', 'awaiting'],
        ['send', 'later', 'scheduled'],
        ['send', 'default', 'awaiting'],
        ['send', 'later', 'scheduled'],
      ]);
      expect(jobs[0]).to.deep.include({ priority: -5, tags: ['first'], enqueuedBy: null });
      expect(answer.headers.get('location')).to.equal(locationOf(jobs.at(-1)));
    });

    it('enqueue batches; the location is that of the callback', async () => {
      const answer = await operate('2/collect');
      const [packing, sending] = await jobsOf(2);
      const batch = await opened.storage.batches.find(packing?.batchId ?? '');
      expect(batch).to.include({ name: 'parcel 2', total: 1, callbackId: sending?.id });
      expect(answer.headers.get('location')).to.equal(locationOf(sending));
    });

    it('enqueue nothing if they fail', async () => {
      expect((await operate('3/spoil')).status).to.equal(500);
      expect(await jobsOf(3)).to.deep.equal([]);
    });
  });
}
