import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import pg from 'pg';
import { house } from './house/house.js';
import { type ControllableJobs, createControllableJobs } from './system/held-job.js';
import { type Postgres, startPostgres } from './system/postgres.js';
import { run, type Running } from './system/process.js';
import { patience } from './system/service.js';

const worker = 'services/worker/dist/main.js';

describe('a worker that runs once', () => {
  let postgres: Postgres;
  let database: pg.Client;
  let held: ControllableJobs;

  before(async () => {
    postgres = await startPostgres();
    held = await createControllableJobs();
    const migrating = once(worker, '--once');
    expect(await migrating.ended, migrating.lines.join('\n')).to.equal('exit 0');
    database = new pg.Client(postgres.url);
    database.on('error', () => undefined); // Postgres stops before this connection is closed
    await database.connect();
  });
  after(async () => {
    await postgres.remove();
    await held.remove();
  });

  function once(program: string, ...args: string[]): Running {
    return run(path.join(house, program), args, {
      ...patience,
      DATABASE_URL: postgres.url,
      LONGSHORE_APP: held.application,
      LOG_LEVEL: 'info',
      WORKER_CONCURRENCY: '1',
    });
  }

  /** Returns the lines in which a worker has logged what it ran. */
  const reportOf = ({ lines }: Running): unknown =>
    lines
      .map((line) => JSON.parse(line) as { readonly msg: string; readonly done?: number })
      .filter(({ done }) => done !== undefined)
      .map(({ msg, done }) => [msg, done]);

  it('finishes its running job when it is asked to stop, and leaves the others', async () => {
    await database.query(`select longshore.enqueue('held'), longshore.enqueue('held')`);
    const stopped = once(worker, '--once');
    await eventually(
      async () => {
        const held = await database.query(
          'select 1 from longshore.job where queue_id > 0 and server_id is not null',
        );
        return held.rowCount;
      },
      (jobs) => jobs !== 0,
    );
    const ended = stopped.end('SIGTERM');
    await eventually(
      () => stopped.lines,
      (lines) => lines.some((line) => line.includes('"server stopping"')),
    );
    await held.finish();
    expect(await ended).to.equal('exit 0');
    expect(reportOf(stopped)).to.deep.equal([['stopped before everything that was ready had run', 1]]);
  });

  it('runs what is ready, says so in one line, and exits with code 0', async () => {
    await held.finish();
    await database.query(`select longshore.enqueue('held'), longshore.enqueue('held')`);
    const { rows: ready } = await database.query('select id from longshore.job where queue_id > 0');
    const draining = once(worker, '--once');
    expect(await draining.ended).to.equal('exit 0');
    expect(reportOf(draining)).to.deep.equal([['ran what was ready', ready.length]]);
    expect((await database.query('select id from longshore.job where queue_id > 0')).rows).to.deep.equal([]);
  });

  it('is a command of longshore, too', async () => {
    const draining = once('services/cli/dist/main.js', 'worker', '--once');
    expect(await draining.ended).to.equal('exit 0');
    expect(reportOf(draining)).to.deep.equal([['ran what was ready', 0]]);
  });

  it('exits with code 1 if the database is unavailable', async () => {
    const failing = run(path.join(house, worker), ['--once'], {
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      LONGSHORE_APP: held.application,
    });
    expect(await failing.ended).to.equal('exit 1');
    expect(failing.lines.join('\n')).to.include('the service could not start');
  });
});
