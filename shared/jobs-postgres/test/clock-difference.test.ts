import { patientStorage } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { clockDifference } from '../src/servers/heartbeat-sender.js';
import { PostgresStorage } from '../src/index.js';
import { beat } from '../src/servers/servers.sql.js';
import { createStoreDatabase } from './support/store-database.js';

describe('The difference of two clocks', () => {
  it('is positive for a clock ahead of the storage’s, and negative for one behind', () => {
    expect(clockDifference(100_000, 90_010, 100_020)).to.equal(10_000);
    expect(clockDifference(100_000, 110_010, 100_020)).to.equal(-10_000);
  });

  for (const days of [-366, 366]) {
    it(`can be sent with a heartbeat for a clock that is off by ${days} days`, async () => {
      const database = await createStoreDatabase();
      const storage = new PostgresStorage({ url: database.url, ...patientStorage });
      await storage.open();
      const description = { host: 'here', pid: 1, queues: ['default'], concurrency: 1, timeoutMs: 3_600_000 };
      const registration = await storage.servers.register(description);
      const now = Date.now();
      const ahead = clockDifference(now + days * 86_400_000, now, now + days * 86_400_000);
      const pool = new pg.Client(database.url);
      await pool.connect();
      const { rowCount } = await pool.query(beat.text, [registration.id, 0, 'running', ahead]);
      const [server] = await storage.servers.list();
      await pool.end();
      await registration.unregister();
      await storage.close();
      await database.drop();
      expect([rowCount, server?.clockAheadMs]).to.deep.equal([1, Math.sign(days) * 2_147_483_647]);
    });
  }

  it('is unknown if the response took too long, or the clock was set in the meantime', () => {
    expect(clockDifference(100_000, 100_000, 101_001)).to.equal(null);
    expect(clockDifference(100_000, 100_000, 99_000)).to.equal(null);
  });
});
