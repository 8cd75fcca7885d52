import { JobServer } from '@longshore/jobs';
import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { describeSqlEntrance } from './support/sql-entrance.js';
import { listen } from './support/heard.js';
import { createStoreDatabase } from './support/store-database.js';

describeSqlEntrance('longshore.enqueue()', createStoreDatabase);

describe('longshore.enqueue()', () => {
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

  it('notifies servers when the transaction commits, and has them poll often for a while', async () => {
    const server = new JobServer({ storage, ...patientServer, handlers: [] });
    await server.start();
    const caller = new pg.Client(database.url);
    await caller.connect();
    try {
      await eventually(() => storage.notificationsArrive);
      const heard = await listen(caller);
      await caller.query('begin');
      for (let n = 0; n < 2; n++) await caller.query(`select longshore.enqueue('work', queue => 'heard')`);
      await caller.query('commit');
      await eventually(() => !storage.notificationsArrive);
      await caller.query(`notify longshore, 'x end'`);
      expect(await eventually(heard, (subjects) => subjects.includes('end'))).to.deep.equal([
        '* ready',
        'end',
      ]);
    } finally {
      await caller.end();
      await server.stop();
    }
  });

  it('has servers poll often although the transaction commits before their first poll', async () => {
    const observed = new PostgresStorage({ url: database.url, ...patientStorage });
    const unlisten = observed.onNotification(() => false);
    try {
      await observed.open();
      await eventually(() => observed.notificationsArrive);
      await database.query(`select longshore.enqueue('work', queue => 'early')`);
      expect(observed.notificationsArrive).to.equal(true);
      const server = new JobServer({ storage: observed, ...patientServer, handlers: [] });
      await server.start();
      await eventually(() => !observed.notificationsArrive);
      await server.stop();
    } finally {
      unlisten();
      await observed.close();
    }
  });
});
