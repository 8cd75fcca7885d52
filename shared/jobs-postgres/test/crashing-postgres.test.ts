import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineJob, JobClient } from '@longshore/jobs';
import { type LocalPostgres, startLocalPostgres } from '@longshore/local-postgres';
import { eventually, patientStorage } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';

describe('A job that crashes Postgres', () => {
  let directory: string;
  let postgres: LocalPostgres;
  let storage: PostgresStorage;

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-crashing-'));
    postgres = await startLocalPostgres({ directory, settings: { wal_writer_delay: '10s', fsync: 'off' } });
    storage = new PostgresStorage({ url: postgres.url, ...patientStorage });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** Connects as soon as Postgres accepts connections again. */
  function connected(): Promise<pg.Client> {
    return eventually(async () => {
      const client = new pg.Client(postgres.url);
      client.on('error', () => undefined);
      await client.connect();
      return client;
    });
  }

  /**
   * Returns a function that kills a backend, which makes Postgres recover from the WAL, and waits until the storage is
   * available again.
   */
  async function readyToCrash(): Promise<() => Promise<void>> {
    const [victim, other] = [await connected(), await connected()];
    const { rows } = await victim.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Postgres ends all connections when it notices the crash.
    const ended = new Promise((resolve) => other.once('end', resolve));
    return async () => {
      process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
      await ended;
      await (await connected()).end();
      await eventually(() => storage.ping().then(() => true));
    };
  }

  it('uses up its attempts, because claims wait for the disk after a crash', async () => {
    const { id } = await new JobClient(storage).enqueue(defineJob({ name: 'crashing' }), {});
    const registration = { host: 'x', pid: 1, queues: ['default'], concurrency: 1, timeoutMs: 3_600_000 };
    await (
      await readyToCrash()
    )();
    const crash = await readyToCrash();
    const { id: serverId } = await eventually(() => storage.servers.register(registration));
    const claims = await storage.claims.claim({ serverId, queue: 'default', limit: 1, leaseMs: 3_600_000 });
    await crash();
    expect(claims.map(({ claim }) => [claim.jobId, claim.attempt])).to.deep.equal([[id, 1]]);
    // Some of the storage's connections may not have noticed the crash.
    const job = await eventually(() => storage.jobs.find(id));
    expect(job).to.include({ state: 'processing', attempt: 1 });
  });
});
