import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type LocalPostgres, startLocalPostgres } from '@longshore/local-postgres';
import { eventually, patientStorage } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';

describe('Timings whose connection breaks', () => {
  let directory: string;
  let postgres: LocalPostgres;
  let storage: PostgresStorage;
  let admin: pg.Client;

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-timings-'));
    postgres = await startLocalPostgres({ directory, settings: { fsync: 'off' } });
    storage = new PostgresStorage({ url: postgres.url, ...patientStorage });
    await storage.open();
    admin = new pg.Client({
      connectionString: postgres.url,
      options: '-c synchronous_commit=local',
    });
    await admin.connect();
  });

  after(async () => {
    await admin.end();
    await storage.close();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /**
   * Makes commits wait for a standby of this name. While the standby is missing, commits reach the disk but are not
   * confirmed.
   */
  async function requireStandby(name: string): Promise<void> {
    await admin.query(`alter system set synchronous_standby_names = '${name}'`);
    await admin.query('select pg_reload_conf()');
  }

  /** Terminates the connections whose commit of timings awaits confirmation. Returns whether there were any. */
  async function cutUnconfirmed(): Promise<boolean> {
    const { rows } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and query like '%longshore.timing %'`,
    );
    return rows.length > 0;
  }

  async function attemptsDone(): Promise<number> {
    const now = Date.now();
    const from = new Date(now - 3_600_000);
    const buckets = await storage.timings.read({ from, until: new Date(now + 60_000), bucketMs: 60_000 });
    return buckets.reduce((sum, { timing }) => sum + timing.done, 0);
  }

  it('are not added twice if they had been committed', async () => {
    let recorded = 0;
    const store = (): Promise<boolean> => {
      storage.timings.ended('default', 'mail', 'done', 10);
      recorded += 1;
      return storage.timings.store();
    };
    await store();
    await requireStandby('missing');
    await eventually(async () => {
      let ended = false;
      const failed = store()
        .then(
          () => false,
          () => true,
        )
        .finally(() => (ended = true));
      await eventually(async () => ended || (await cutUnconfirmed()));
      return failed;
    });
    await requireStandby('');
    expect(await attemptsDone()).to.equal(recorded);
    await store();
    expect(await attemptsDone()).to.equal(recorded);
  });
});
