import { appendFile, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { type NotingApplication, writeNotingApplication } from '../failover/noting-application.js';
import { makeDirectory, PostgresNode, runPostgresProgram } from '../failover/postgres-node.js';
import { house } from './house/house.js';
import { enqueue } from './system/jobs.js';
import { type Service, startService } from './system/service.js';

describe('A backup', () => {
  let directory: string;
  let node: PostgresNode;
  let application: NotingApplication;
  const services: Service[] = [];

  before(async () => {
    directory = await makeDirectory(await mkdtemp(path.join(tmpdir(), 'longshore-restore-')));
    const archive = await makeDirectory(path.join(directory, 'archive'));
    application = await writeNotingApplication();
    node = await PostgresNode.create(path.join(directory, 'data'), {
      archive_mode: 'on',
      archive_command: `cp %p ${archive}/%f`,
    });
  });

  afterEach(() => Promise.all(services.splice(0).map((service) => service.end('SIGKILL'))));

  after(async () => {
    await node.remove();
    await application.remove();
    await rm(directory, { recursive: true, force: true });
  });

  const start = async (
    name: 'api' | 'worker',
    url: string,
    settings: Record<string, string> = {},
  ): Promise<Service> => {
    const service = await startService(name, {
      API_STORAGE: 'postgres',
      DATABASE_URL: url,
      LONGSHORE_APP: application.file,
      LONGSHORE_TEST_JOB: 'false',
      WORKER_SERVER_TIMEOUT_MS: '5000', // the workers of the original are dead in the copy
      ...settings,
    });
    services.push(service);
    return service;
  };

  const paused = { LONGSHORE_START: 'paused' };

  const pausedAt = async ({ url }: Service): Promise<string | null> => {
    const response = await fetch(`${url}/api/v1/installations/longshore`);
    return ((await response.json()) as { pausedAt: string | null }).pausedAt;
  };

  const resume = async (api: Service): Promise<void> => {
    expect(await pausedAt(api)).to.be.a('string');
    const { status } = await fetch(`${api.url}/api/v1/installations/longshore/resume`, { method: 'PUT' });
    expect([status, await pausedAt(api)]).to.deep.equal([200, null]);
  };

  const done = async (of: PostgresNode, database = 'jobs'): Promise<number> => {
    const text = `select count(*)::integer as jobs from longshore.job_history where state = 'done'`;
    const [row] = await of.query<{ jobs: number }>(database, text);
    return row?.jobs ?? 0;
  };

  const psql = (database: string, file: string): Promise<string> => {
    const options = ['--no-psqlrc', '--tuples-only', '--no-align', '--set=ON_ERROR_STOP=1'];
    const script = path.join(house, 'ops/restore', file);
    return runPostgresProgram('psql', [...options, `--file=${script}`, node.urlOf(database)]);
  };

  it('made with pg_dump under load runs, once resumed, exactly what the query of unfinished jobs lists', async () => {
    const api = await start('api', node.url);
    await start('worker', node.url);
    let enqueued = 0;
    const dumped = new AbortController();
    const load = async (): Promise<void> => {
      while (!dumped.signal.aborted) {
        await enqueue(api.url, 'note');
        enqueued++;
      }
    };
    const loading = load();
    await eventually(
      () => enqueued,
      (count) => count >= 50,
    );
    const later = { name: 'note', args: {}, delayMs: 500 };
    await fetch(`${api.url}/api/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Array.from({ length: 20 }, () => later)),
    });
    const file = path.join(directory, 'jobs.dump');
    try {
      await runPostgresProgram('pg_dump', ['--format=custom', `--file=${file}`, node.url]);
    } finally {
      dumped.abort();
      await loading;
    }
    await eventually(
      () => done(node),
      (jobs) => jobs === enqueued + 20,
    );
    await Promise.all(services.splice(0).map((service) => service.end('SIGKILL')));

    await node.query('postgres', 'create database restored');
    await runPostgresProgram('pg_restore', [`--dbname=${node.urlOf('restored')}`, file]);
    const listed = (await psql('restored', 'unfinished.sql')).trim().split('|');
    expect(listed.slice(0, 2)).to.deep.equal(['default', 'note']);
    const unfinished = Number(listed[2]);
    const doneBefore = await done(node, 'restored');
    const before = (await application.begun()).length;

    const restored = await start('api', node.urlOf('restored'), paused);
    await start('worker', node.urlOf('restored'), paused);
    const released = `select count(*)::integer as jobs from longshore.job where server_id is not null and queue_id > 0`;
    await eventually(
      () => node.query<{ jobs: number }>('restored', released),
      ([row]) => row?.jobs === 0,
    );
    expect((await application.begun()).length).to.equal(before);
    await resume(restored);
    await eventually(
      () => done(node, 'restored'),
      (jobs) => jobs === doneBefore + unfinished,
    );
    const again = (await application.begun()).slice(before);
    expect([again.length, new Set(again).size]).to.deep.equal([unfinished, unfinished]);
  });

  it('made with pg_basebackup and the archived log restores the jobs as they were at a point in time', async () => {
    await node.query('postgres', 'create database later');
    const copy = path.join(directory, 'copy');
    const api = await start('api', node.urlOf('later'), paused);
    await resume(api); // leaves the timeline as the only difference between the copy and the original
    await start('worker', node.urlOf('later'));
    await node.backUp(copy);
    await enqueue(api.url, 'note');
    await eventually(
      () => done(node, 'later'),
      (jobs) => jobs === 1,
    );
    const [target] = await node.query<{ now: string; file: string }>(
      'postgres',
      'select clock_timestamp()::text as now',
    );
    await enqueue(api.url, 'note');
    await eventually(
      () => done(node, 'later'),
      (jobs) => jobs === 2,
    );
    const [switched] = await node.query<{ file: string }>(
      'postgres',
      'select pg_walfile_name(pg_switch_wal()) as file',
    );
    await eventually(
      () =>
        node.query<{ last: string }>('postgres', 'select last_archived_wal as last from pg_stat_archiver'),
      ([row]) => row !== undefined && row.last >= (switched?.file ?? ''),
    );

    await appendFile(
      path.join(copy, 'postgresql.auto.conf'),
      [
        `restore_command = 'cp ${directory}/archive/%f %p'`,
        `recovery_target_time = '${target?.now}'`,
        `recovery_target_action = 'promote'`,
        '',
      ].join('\n'),
    );
    const signal = path.join(copy, 'recovery.signal');
    await writeFile(signal, '');
    if (process.getuid?.() === 0) await chown(signal, 65534, 65534);
    const restored = await PostgresNode.of(copy);
    await restored.start();
    try {
      await eventually(
        () => restored.query<{ recovers: boolean }>('postgres', 'select pg_is_in_recovery() as recovers'),
        ([row]) => row?.recovers === false,
      );
      expect(await done(restored, 'later')).to.equal(1);
      const again = await start('api', restored.urlOf('later'), paused);
      expect(await pausedAt(again)).to.be.a('string');
    } finally {
      await Promise.all(services.splice(0).map((service) => service.end('SIGKILL')));
      await restored.remove();
    }
  });
});
