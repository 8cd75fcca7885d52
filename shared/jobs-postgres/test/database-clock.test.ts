import { defineJob, handleJob, type Job, JobClient, JobServer } from '@longshore/jobs';
import { timeOfId } from '@longshore/jobs/storage';
import {
  eventually,
  patientServer,
  patientStorage,
  TcpProxy,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const work = defineJob({ name: 'work' });

describe('The times of a job', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let storage: PostgresStorage;

  beforeEach(async () => {
    database = await createStoreDatabase();
    proxy = await TcpProxy.start(Number(new URL(database.url).port));
    storage = new PostgresStorage({ url: proxy.urlOf(database.url), ...patientStorage });
    await storage.open();
  });

  afterEach(async () => {
    await storage.close();
    await proxy.close();
    await database.drop();
  });

  const timeOfDatabase = async (): Promise<Date> => {
    const [row] = await database.query<{ at: Date }>('select clock_timestamp() as at');
    return row?.at ?? new Date(NaN);
  };

  /** Runs a job on a server of its own, and returns it when it is done. */
  async function run(id: string): Promise<Job | null> {
    const server = new JobServer({ storage, ...patientServer, handlers: [handleJob(work, () => 'done')] });
    await server.start();
    const done = await eventually(
      () => storage.jobs.find(id),
      (job) => job?.state === 'done',
    );
    await server.stop();
    return done;
  }

  it('are in order if reading the clock took long on the way to Postgres', async () => {
    proxy.freeze();
    const reading = storage.clock.read();
    const heldFrom = await timeOfDatabase();
    await eventually(timeOfDatabase, (at) => at.getTime() > heldFrom.getTime() + 600);
    proxy.thaw();
    await reading;
    const estimated = storage.clock.now();
    expect(estimated).to.be.at.most((await timeOfDatabase()).getTime());
    const { id } = await new JobClient(storage).enqueue(work);
    const job = await run(id);
    expect(timeOfId(id)).to.be.at.most(job?.startedAt ?? new Date(NaN));
  });

  it('are in order if the clock of Postgres has been set back by some seconds', async () => {
    const { id } = await new JobClient(storage).enqueue(work);
    await database.query(
      `update longshore.job set created_at = now() + interval '30 seconds', ready_at = now() + interval '30 seconds' where id = '${id}'`,
    );
    const job = await run(id);
    expect(job?.startedAt).to.be.at.least(job?.createdAt ?? new Date(NaN));
  });
});
