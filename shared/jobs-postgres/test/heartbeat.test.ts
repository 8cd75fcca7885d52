import { eventually, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('The heartbeat of a server on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  const register = async (timeoutMs: number) =>
    storage.servers.register({ host: 'here', pid: 1, queues: ['default'], concurrency: 1, timeoutMs });

  const heartbeatOf = async (id: string): Promise<number> => {
    const server = (await storage.servers.list()).find((candidate) => candidate.id === id);
    return server?.heartbeatAt.getTime() ?? Number.NaN;
  };

  it('continues while the event loop is blocked', async () => {
    const registration = await register(600);
    const first = await heartbeatOf(registration.id);
    await eventually(async () => (await heartbeatOf(registration.id)) > first); // the thread is up
    const blockedAt = Date.now();
    while (Date.now() < blockedAt + 1_200); // a handler that computes
    const last = await heartbeatOf(registration.id);
    await registration.unregister();
    expect(last).to.be.greaterThan(blockedAt);
  });

  it('reports the number of running jobs', async () => {
    const registration = await register(300);
    registration.report(7);
    await eventually(async () => {
      const server = (await storage.servers.list()).find(({ id }) => id === registration.id);
      return server?.processing === 7;
    });
    await registration.unregister();
  });

  it('reports how far the server’s clock is from that of Postgres', async () => {
    const registration = await register(300);
    const clock = await eventually(async () => {
      const server = (await storage.servers.list()).find(({ id }) => id === registration.id);
      return server?.clockAheadMs !== null && { ahead: server?.clockAheadMs };
    });
    expect(clock.ahead).to.be.closeTo(0, 1_000);
    await registration.unregister();
  });

  it('detects that the server has been declared dead', async () => {
    const registration = await register(300);
    await database.query('delete from longshore.server where id = $1', [registration.id]);
    await eventually(() => registration.lost.aborted);
    await registration.unregister();
  });
});
