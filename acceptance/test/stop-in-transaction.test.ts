import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { house } from './house/house.js';
import { eventually } from '@longshore/test-support';
import { useSystem } from './system/system.js';

/**
 * An application whose handlers never end. One handler waits between the statements of a transaction, one during a
 * statement of a transaction, and one during a statement on the application's pool.
 */
const application = `
import { defineJob, handleJob } from '@longshore/jobs';

const define = (name) => defineJob({ name, queue: 'default', retryDelay: () => 600_000 });
const [idle, asleep, elsewhere] = ['idle', 'asleep', 'elsewhere'].map(define);
const forever = () => new Promise(() => undefined);

export const application = {
  name: 'unending',
  tables: {
    migrations: { directory: new URL('./migrations', import.meta.url), schema: 'unending' },
    resources: [],
  },
  createHandlers: ({ database }) => [
    handleJob(idle, ({ transaction }) => transaction(forever)),
    handleJob(asleep, ({ transaction }) => transaction((client) => client.query('select pg_sleep(36000)'))),
    handleJob(elsewhere, () => database.query('select pg_sleep(36000)')),
  ],
};
`;

/** How long the worker waits for running jobs, in milliseconds. */
const graceMs = 2_000;

describe('a worker that is asked to stop while its handlers hold transactions', () => {
  const system = useSystem({ WORKER_STOP_TIMEOUT_MS: String(graceMs), DATABASE_POOL_SIZE: '4' });
  let directory: string;
  let database: pg.Client;
  let ending: string;
  /** The messages that the worker logged, and when. */
  let log: Map<string, number>;

  before(async () => {
    await mkdir(path.join(house, '.data'), { recursive: true });
    directory = await mkdtemp(path.join(house, '.data', 'unending-'));
    await mkdir(path.join(directory, 'migrations'));
    await writeFile(path.join(directory, 'migrations', '001_nothing.sql'), '-- Up Migration\nselect 1;\n');
    const module = path.join(directory, 'application.mjs');
    await writeFile(module, application);
    const worker = await system().start('worker', { LONGSHORE_APP: module });
    database = new pg.Client(system().postgres.url);
    database.on('error', () => undefined); // ignored, because Postgres may stop before this client disconnects
    await database.connect();
    await database.query(
      `select longshore.enqueue(name) from unnest(array['idle', 'asleep', 'asleep', 'elsewhere']) as name`,
    );
    await eventually(
      async () =>
        (
          await database.query<{ activity: string }>(
            `select name as activity from longshore.job where server_id is not null
             union all select query from pg_stat_activity where query like 'select pg_sleep%'`,
          )
        ).rows,
      (rows) => rows.length === 4 + 3,
    );
    ending = await worker.end('SIGTERM');
    log = new Map(
      worker.lines
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { time: string; msg: string })
        .map(({ time, msg }) => [msg, new Date(time).getTime()]),
    );
  });

  after(async () => {
    await database.end();
    await rm(directory, { recursive: true, force: true });
  });

  it('exits normally after the shutdown grace, although they never end', () => {
    expect(ending).to.equal('exit 0');
    const [from = Infinity, until = 0] = [
      'stopping',
      'jobs did not finish in time; another server will run them again',
    ].map((message) => log.get(message));
    expect(until - from).to.be.at.least(graceMs - 5); // timers can fire early
  });

  it('releases their jobs without counting the attempt', async () => {
    const { rows } = await database.query(
      'select distinct server_id, attempt, past_attempts from longshore.job',
    );
    expect(rows).to.deep.equal([{ server_id: null, attempt: 0, past_attempts: null }]);
  });

  it('leaves no transaction open', async () => {
    const { rows } = await database.query(
      `select query from pg_stat_activity where pid <> pg_backend_pid() and xact_start is not null and backend_type = 'client backend'
         and query not like '%pg_sleep%'`,
    );
    expect(rows).to.deep.equal([]);
  });
});
