import { defineJob, JobClient } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import { PostgresStorage } from 'longshore';
import { createTestDatabase, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { adminKey, type RunningApi, runApi } from './support/running-api.js';

const times = `'infinity'::timestamptz, '-infinity', '294000-01-01Z', '0044-03-15 BC'`;

/**
 * Inserts invalid rows after dropping the constraints that forbid them. A bug or a manual change could leave such rows
 * behind. Most kinds of rows are inserted once for each value in `times`.
 */
async function poison(database: TestDatabase): Promise<void> {
  for (const table of ['job', 'job_blocked', 'job_scheduled', 'job_awaiting', 'recurring_job', 'queue'])
    await database.query(`alter table longshore.${table} drop constraint ${table}_bounds`);
  const columns =
    'queue_id, id, created_at, run_at, priority, attempt, max_attempts, name, args, past_attempts, meta';
  const row = `1, longshore.new_id(), at, at, 32767, 32767, 32767, 'odd', '{"n": 1e400}',
    '[{"attempt": "x", "outcome": 7, "startedAt": "infinity", "finishedAt": 5, "error": "text"}, 5]', '{"tags": 5, "parentIds": {}, "batchId": [], "timeoutMs": "x", "concurrencyLimit": "x"}'`;
  const odd = `from unnest(array[${times}]) as at`;
  await database.query(`insert into longshore.job (${columns}) select ${row} ${odd}`);
  await database.query(
    `insert into longshore.job (${columns}, server_id, started_at, lease_until) select ${row}, longshore.new_id(), at, at ${odd}`,
  );
  for (const table of ['job_blocked', 'job_scheduled', 'job_awaiting'])
    await database.query(`insert into longshore.${table} (${columns}) select ${row} ${odd}`);
  for (const state of ['done', 'failed', 'cancelled'])
    await database.query(`
      insert into longshore.job_history_${state} (${columns}, started_at, server_id, finished_at, result, error)
      select ${row}, at, longshore.new_id(), now(), '[1e400]', '{"name": {}, "message": 5}' ${odd}`);
  await database.query(`update longshore.job_history_done set past_attempts = '"none"', meta = '[]' where id in (
    select id from longshore.job_history_done limit 3)`);
  await database.query(`
    insert into longshore.job_count (queue_id, state, jobs) values
    (1, 'enqueued', 8), (1, 'processing', 4), (1, 'scheduled', 4), (1, 'awaiting', 4), (1, 'done', 4), (1, 'failed', 4), (1, 'cancelled', 4)`);
  await database.query(`
    update longshore.recurring_job set cron = 'never', time_zone = 'Nowhere/None', next_due_at = 'infinity', last_due_at = '-infinity'`);
  await database.query(
    `update longshore.queue set rate_limit = '"fast"', paused_at = 'infinity' where id = 1`,
  );
  await database.query(`
    insert into longshore.bulk_operation (id, action, filter, state) values (longshore.new_id(), 'delete', '["all"]', 'running')`);
  await database.query(
    `insert into longshore.batch (id, name, total, created_at, finished_at) values (longshore.new_id(), 'odd', 0, 'infinity', '-infinity')`,
  );
}

describe('Rows that cannot be interpreted', () => {
  let database: TestDatabase;
  let api: RunningApi;
  let ids: Record<string, string>;

  before(async () => {
    database = await createTestDatabase();
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    const client = new JobClient(storage);
    const work = defineJob({ name: 'odd', queue: 'odd' });
    const { id } = await client.enqueue(work, {}, { queue: 'odd' });
    await client.recurring.addOrUpdate({ id: 'odd', definition: work, args: {}, cron: '0 3 * * *' });
    await storage.close();
    await poison(database);
    const rows = await database.query<{ state: string; id: string }>(`
      select 'scheduled' as state, (select id from longshore.job_scheduled where queue_id = 1 limit 1) as id
      union all select 'awaiting', (select id from longshore.job_awaiting where queue_id = 1 limit 1)
      union all select 'held', (select id from longshore.job_blocked where queue_id = 1 limit 1)
      union all select 'enqueued', (select id from longshore.job where queue_id = 1 and server_id is null and id <> '${id}' limit 1)
      union all select 'processing', (select id from longshore.job where queue_id = 1 and server_id is not null limit 1)
      union all select 'done', (select id from longshore.job_history_done limit 1)
      union all select 'failed', (select id from longshore.job_history_failed offset 3 limit 1)
      union all select 'cancelled', (select id from longshore.job_history_cancelled limit 1)
      union all select 'batch', (select id from longshore.batch limit 1)
      union all select 'bulk', (select id from longshore.bulk_operation limit 1)`);
    ids = Object.fromEntries(rows.map((row) => [row.state, row.id]));
    api = await runApi({
      API_STORAGE: 'postgres',
      DATABASE_URL: database.url,
      API_EMBEDDED_DASHBOARD: 'true',
    });
  });

  after(async () => {
    await api.stop();
    await database.drop();
  });

  const call = (method: string, path: string) => api.call(method, path, { token: adminKey });

  const page = (path: string) => call('GET', `/job-dashboard${path}`);

  const states = ['scheduled', 'awaiting', 'held', 'enqueued', 'processing', 'done', 'failed', 'cancelled'];

  it('are in every list of the API', async () => {
    for (const path of [
      '/jobs?limit=1000',
      '/jobs?state=scheduled',
      '/jobs?state=failed&sort=createdAt',
      '/jobs?q=odd',
      '/jobs/search/odd',
      '/queues',
      '/queues/odd',
      '/queues/odd/jobs',
      '/servers',
      '/recurring-jobs',
      '/recurring-jobs/odd',
      '/recurring-jobs/odd/occurrences',
      '/batches',
      `/batches/${ids['batch']}`,
    ]) {
      const { status, text } = await call('GET', `/api/v1${path}`);
      expect([path, status], text).to.deep.equal([path, 200]);
    }
    const listed = (await call('GET', '/api/v1/jobs?limit=1000')).json() as { unreadable: string[] | null }[];
    expect(listed.filter(({ unreadable }) => unreadable?.includes('createdAt') === true)).to.have.length(32);
  });

  it('can be read one by one, with a note of what cannot be shown', async () => {
    for (const state of states) {
      for (const part of ['', '/attempts', '/transitions', '/logs', '/continuations']) {
        const { status, text } = await call('GET', `/api/v1/jobs/${ids[state]}${part}`);
        expect([state, part, status], text).to.deep.equal([state, part, 200]);
      }
      const job = (await call('GET', `/api/v1/jobs/${ids[state]}`)).json() as Record<string, unknown>;
      expect(job['unreadable'], state).to.include.members(['createdAt', 'priority', 'maxAttempts']);
      expect(job['priority'], state).to.equal(100);
      expect(job['createdAt'], state).to.match(/^20\d\d-/); // taken from the id
    }
  });

  it('are on every page of the dashboard', async () => {
    for (const path of [
      '/',
      '/jobs',
      ...['scheduled', 'awaiting', 'enqueued', 'processing', 'done', 'failed', 'cancelled'].map(
        (state) => `/jobs?state=${state}`,
      ),
      ...states.map((state) => `/jobs/${ids[state]}`),
      '/queues',
      '/queues/odd',
      '/recurring',
      '/recurring/odd',
      '/servers',
      '/batches',
      `/batches/${ids['batch']}`,
      '/errors',
      '/bulk',
      `/bulk/${ids['bulk']}`,
      '/audit',
    ]) {
      const { status, text } = await page(path);
      expect([path, status], status === 200 ? '' : text.slice(0, 500)).to.deep.equal([path, 200]);
    }
  });

  it('show on their page what cannot be read', async () => {
    const { text } = await page(`/jobs/${ids['scheduled']}`);
    expect(text).to.include('Some stored fields of this job cannot be read: createdAt, runAt');
  });

  it('can be cancelled, retried and deleted', async () => {
    for (const state of ['scheduled', 'awaiting', 'held', 'enqueued']) {
      const { status, text } = await call('PUT', `/api/v1/jobs/${ids[state]}/cancel`);
      expect([state, status], text).to.deep.equal([state, 200]);
    }
    const retried = await call('PUT', `/api/v1/jobs/${ids['failed']}/retry`);
    expect(retried.status, retried.text).to.equal(200);
    for (const state of ['done', 'scheduled', 'awaiting', 'held', 'enqueued']) {
      const { status, text } = await call('DELETE', `/api/v1/jobs/${ids[state]}`);
      expect([state, status], text).to.deep.equal([state, 204]);
    }
  });

  it('do not keep other jobs from being found', async () => {
    const { status } = await call('GET', `/api/v1/jobs/${newId()}`);
    expect(status).to.equal(404);
    expect((await call('GET', '/metrics')).status).to.equal(200);
  });
});
