import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { house } from './house/house.js';
import { type ControllableJobs, createControllableJobs } from './system/held-job.js';
import { enqueue, getJob } from './system/jobs.js';
import { type Postgres, startPostgres } from './system/postgres.js';
import { type Service, startService } from './system/service.js';

describe('the rotation of the database password in docs/deploying.md', () => {
  let directory: string;
  let file: string;
  let postgres: Postgres;
  let admin: pg.Client;
  let held: ControllableJobs;
  let sql: string[];
  let sh: string[];
  let address: string;
  const services: Service[] = [];

  before(async () => {
    const page = await readFile(path.join(house, 'docs/deploying.md'), 'utf8');
    const [, section = ''] = page.split('\n## Rotate the database password\n');
    const blocks = (language: string): string[] =>
      [...section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
        ([, text = '']) => text,
      );
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-rotated-'));
    file = path.join(directory, 'database-url');
    postgres = await startPostgres();
    address = new URL(postgres.url).host;
    // Renames the role, because this Postgres's superuser already has the documented name.
    sql = blocks('sql').map((text) =>
      text.replaceAll(/(role |to |')longshore\b/g, '$1services').replaceAll('longshore_b', 'services_b'),
    );
    sh = blocks('sh').map((text) =>
      text
        .replace('/run/secrets/longshore', directory)
        .replace('longshore:new-password@db:5432', `services:new-password@${address}`),
    );
    admin = new pg.Client(postgres.url);
    await admin.connect();
    await admin.query(
      `create role services login password 'old'; grant create on database longshore to services`,
    );
    await writeFile(file, `postgres://services:old@${address}/longshore`);
    held = await createControllableJobs();
    const env = {
      API_STORAGE: 'postgres',
      API_AUTH: 'none',
      DATABASE_URL_FILE: file,
      LONGSHORE_APP: held.application,
    };
    for (const name of ['api', 'worker'] as const) services.push(await startService(name, env));
  });

  after(async () => {
    await Promise.all(services.map((service) => service.end('SIGKILL')));
    await held?.remove();
    await admin?.end();
    await postgres?.remove();
    await rm(directory, { recursive: true, force: true });
  });

  const done = (job: string): Promise<unknown> =>
    eventually(
      () => getJob(job),
      ({ state }) => state === 'done',
    );

  /** Enqueues a job once the api has connections again. */
  const enqueued = (): Promise<string> => eventually(() => enqueue(services[0]?.url ?? '', 'held'));

  const roles = async (): Promise<string[]> => {
    const { rows } = await admin.query<{ usename: string }>(
      `select distinct usename from pg_stat_activity where usename like 'services%'`,
    );
    return rows.map(({ usename }) => usename);
  };

  it('lets jobs go on and services reconnect without a restart', async () => {
    const job = await enqueued();
    await eventually(
      () => getJob(job),
      ({ state }) => state === 'processing',
    );
    await admin.query(sql[0] ?? '');
    await promisify(execFile)('sh', ['-e', '-c', sh[0] ?? '']);
    const ended = (await admin.query(sql[1] ?? '')).rowCount;
    expect(ended).to.be.greaterThan(0);
    await held.finish();
    await done(job);
    await done(await enqueued());
    expect(services.map((service) => service.ending())).to.deep.equal([null, null]);
  });

  it('works with two roles in turn', async () => {
    await admin.query(sql[2] ?? '');
    await writeFile(file, `postgres://services_b:password-b@${address}/longshore`);
    await admin.query(sql[1] ?? '');
    await done(await enqueued());
    await eventually(roles, (names) => names.join() === 'services_b');
    expect(services.map((service) => service.ending())).to.deep.equal([null, null]);
  });

  it('writes no password to the log', () => {
    expect(
      services.flatMap(({ lines }) => lines).filter((line) => /new-password|password-b/.test(line)),
    ).to.deep.equal([]);
  });
});
