import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { freePort } from '@longshore/local-postgres';
import { defineJob, handleJob, JobClient, JobServer, StorageUnavailableError } from '@longshore/jobs';
import type { LocalNotification } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('A Postgres storage that loses its connections', () => {
  const work = defineJob({ name: 'work' });
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  async function cutConnections(): Promise<void> {
    await database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
  }

  it('works again at the next call', async () => {
    await storage.ping();
    await cutConnections();
    await eventually(async () => {
      await storage.ping();
      return true;
    });
  });

  it('continues running jobs', async () => {
    const server = new JobServer({ storage, ...patientServer, handlers: [handleJob(work, () => 'done')] });
    await server.start();
    const client = new JobClient(storage);
    try {
      await client.enqueue(work, {});
      await cutConnections();
      const { id } = await eventually(() => client.enqueue(work, {}));
      await eventually(
        () => storage.jobs.find(id),
        (job) => job?.state === 'done',
      );
    } finally {
      await server.stop();
    }
  });

  it('reruns a job whose transaction lost its connection', async () => {
    const others = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    const handler = handleJob(work, ({ job, transaction }) =>
      transaction(async () => {
        if (job.attempt > 1) return 'done';
        const cut = (await database.query<{ pid: number }>(others)).map(({ pid }) => pid);
        await cutConnections();
        await eventually(
          () => database.query(`${others} and pid = any ($1)`, [cut]),
          (left) => left.length === 0,
        );
        return 'cut';
      }),
    );
    const server = new JobServer({ storage, ...patientServer, handlers: [handler] });
    await server.start();
    try {
      const { id } = await new JobClient(storage).enqueue(work, {});
      const job = await eventually(
        () => storage.jobs.find(id),
        (found) => found?.state === 'done',
      );
      expect([job?.attempt, job?.result]).to.deep.equal([2, 'done']);
    } finally {
      await server.stop();
    }
  });

  it('receives notifications again', async () => {
    const heard: LocalNotification[] = [];
    const other = new PostgresStorage({ url: database.url, ...patientStorage });
    const unsubscribe = storage.onNotification(
      (notification) => {
        heard.push(notification);
        return false;
      },
      ['default'],
    );
    try {
      await eventually(() => storage.notificationsArrive);
      await cutConnections();
      heard.length = 0;
      await eventually(async () => {
        await new JobClient(other).enqueue(work, {});
        return heard.some((notification) => notification.kind === 'ready');
      });
    } finally {
      unsubscribe();
      await other.close();
    }
  });

  it('reports that the database is unavailable, and what to do about it, when nothing responds', async () => {
    const nowhere = new PostgresStorage({ url: `postgres://nobody@127.0.0.1:${await freePort()}/none` });
    const error = await nowhere.open().catch((thrown: unknown) => thrown);
    await nowhere.close();
    expect(error).to.be.instanceOf(StorageUnavailableError);
  });
});
