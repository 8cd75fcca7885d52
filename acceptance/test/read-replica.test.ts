import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { makeDirectory, PostgresNode } from '../failover/postgres-node.js';
import { getJson } from './system/jobs.js';
import { type Service, startService } from './system/service.js';

interface Replica {
  readonly lagMs: number | null;
  readonly maxLagMs: number;
  readonly fallback: string | null;
}

describe('A read replica for searches', () => {
  let directory: string;
  let primary: PostgresNode;
  let standby: PostgresNode;
  let api: Service;

  before(async () => {
    directory = await makeDirectory(await mkdtemp(path.join(tmpdir(), 'longshore-replica-')));
    primary = await PostgresNode.create(path.join(directory, 'primary'));
    standby = await primary.makeStandby(path.join(directory, 'standby'), 'standby');
    api = await startService('api', {
      API_STORAGE: 'postgres',
      DATABASE_URL: primary.url,
      DATABASE_SEARCH_URL: standby.url,
      DATABASE_SEARCH_MAX_LAG_MS: '1000',
    });
  });

  after(async () => {
    await api.end('SIGKILL');
    await standby.remove();
    await primary.remove();
    await rm(directory, { recursive: true, force: true });
  });

  const enqueue = async (): Promise<void> => {
    const response = await fetch(`${api.url}/api/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'test', args: { waitMs: 0 }, tags: ['sought'], delayMs: 3_600_000 }),
    });
    expect(response.status, await response.text()).to.equal(201);
  };
  const find = async (): Promise<number> =>
    (await getJson<unknown[]>(`${api.url}/api/v1/jobs?q=sought`)).length;
  const replica = async (): Promise<Replica> =>
    (await getJson<{ replica: Replica }>(`${api.url}/readyz`)).replica;

  it('is used while it is not behind, and its lag is known', async () => {
    await enqueue();
    await eventually(find, (found) => found === 1);
    const seen = await eventually(replica, ({ fallback }) => fallback === null);
    expect(seen).to.include({ maxLagMs: 1_000 });
    expect(seen.lagMs).to.be.within(0, 1_000);
  });

  it('is not used while it is too far behind, so that searches find what was written', async () => {
    await standby.query('postgres', 'select pg_wal_replay_pause()');
    await enqueue();
    const seen = await eventually(replica, ({ fallback }) => fallback !== null);
    expect(seen.fallback).to.match(/^the replica is [\d.]+ s behind$/);
    expect(await find()).to.equal(2);
    await standby.query('postgres', 'select pg_wal_replay_resume()');
    await eventually(replica, ({ fallback }) => fallback === null);
    expect(api.lines.some((line) => line.includes('searches use the replica again'))).to.equal(true);
  });

  it('is not used while it is down, and searches succeed', async () => {
    await standby.stop('SIGQUIT');
    expect(await find()).to.equal(2);
    expect(api.lines.some((line) => line.includes('because the replica cannot be used: '))).to.equal(true);
  });
});
