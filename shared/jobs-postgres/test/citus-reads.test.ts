import type { TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { skippedErrorName } from '@longshore/jobs/storage';
import { staticStatements } from '../src/connection/statement.js';
import { restoreSkipped } from '../src/dependencies/skipped-jobs.sql.js';
import { selectErrorGroups } from '../src/statistics/error-groups.sql.js';
import { builtQueries, searchedId as id, searchedTime } from './support/built-queries.js';
import { createClusterOfOne } from './support/cluster-of-one.js';

/** Jobs that {@link stored} stores: one in each table, and one that does not exist. */
const ids = [1, 2, 3, 4, 5, 6, 7, 9].map((place) => `01890000-0000-7000-8000-000000000${place}13`);
const [ready = '', , , , , failed = ''] = ids;
const queues = ids.map(() => 2);

/**
 * Stores 24 jobs in each table, with ids on both sides of {@link id}: of three queues, two names, and with all that the
 * searches filter by. Because of a failed job, a job in each of two queues has been skipped; because of the one in the
 * queue `mail`, another one in `files`.
 */
const stored = `
  insert into longshore.queue (id, name) select n, (array['mail', 'files', 'other'])[n] from generate_series(1, 3) as n;
  insert into longshore.queue_node (queue_id) select n from generate_series(1, 3) as n;
  create temporary view made as
  select 1 + n % 3 as queue_id, 'work' || repeat('-2', n % 2) as name, n % 4 as priority, 1 + n % 2 as attempt, 10 as max_attempts,
    '${searchedTime.toISOString()}'::timestamptz + (n - 12) * interval '1 minute' as at,
    jsonb_build_object('customer', jsonb_build_object('id', 7 + n % 2), 'note', 'two words') as args,
    jsonb_build_object('tags', array['blue'], 'concurrencyKey', (array['one', 'two'])[1 + n % 2], 'concurrencyLimit', 1,
      'recurringJobId', 'nightly', 'batchId', '${id}') as meta,
    jsonb_build_object('name', 'TimeoutError', 'message', 'timeout ' || repeat('again ', n % 2), 'stack', null) as error, n
  from generate_series(1, 24) as n;
  create function pg_temp.id_in(place integer, n integer) returns uuid language sql as
  $$ select ('0189' || (case when n % 5 = 0 then '1' else '0' end) || '000-0000-7000-8000-000000000' || place || lpad(n::text, 2, '0'))::uuid $$;
  insert into longshore.job (queue_id, id, created_at, ready_at, run_at, priority, attempt, max_attempts, name, args, meta, started_at,
    server_id, lease_until, past_attempts)
  select queue_id, pg_temp.id_in(1, n), at, at, at, priority, attempt, max_attempts, name, args, meta, case when n > 12 then at end,
    case when n > 12 then '${id}'::uuid end, case when n > 12 then now() - interval '1 hour' end,
    jsonb_build_array(jsonb_build_object('attempt', 1, 'outcome', 'failed', 'error', error)) from made;
  insert into longshore.job_blocked (queue_id, id, created_at, priority, attempt, max_attempts, name, args, meta)
  select queue_id, pg_temp.id_in(2, n), at, priority, 0, max_attempts, name, args, meta from made;
  insert into longshore.job_scheduled (queue_id, id, created_at, run_at, retried_at, priority, attempt, max_attempts, name, args, meta,
    past_attempts)
  select queue_id, pg_temp.id_in(3, n), at, at, at, priority, attempt, max_attempts, name, args, meta,
    jsonb_build_array(jsonb_build_object('attempt', attempt, 'outcome', 'failed', 'serverId', '${id}', 'error', error)) from made;
  insert into longshore.job_awaiting (queue_id, id, created_at, delay_ms, priority, attempt, max_attempts, name, args, meta)
  select queue_id, pg_temp.id_in(4, n), at, 1000, priority, 0, max_attempts, name, args, meta from made;
  insert into longshore.job_history_done (queue_id, id, created_at, started_at, finished_at, server_id, priority, attempt,
    max_attempts, name, args, meta, result)
  select queue_id, pg_temp.id_in(5, n), at, at, at, '${id}', priority, attempt, max_attempts, name, args, meta, to_jsonb(n) from made;
  insert into longshore.job_history_failed (queue_id, id, created_at, started_at, finished_at, server_id, priority, attempt,
    max_attempts, name, args, meta, error)
  select queue_id, pg_temp.id_in(6, n), at, at, at, '${id}', priority, attempt, max_attempts, name, args, meta, error from made;
  insert into longshore.job_history_cancelled (queue_id, id, created_at, finished_at, priority, attempt, max_attempts, name, args, meta,
    error)
  select queue_id, pg_temp.id_in(7, n), at, at, priority, attempt, max_attempts, name, args, meta, error from made;
  insert into longshore.job_history_cancelled (queue_id, id, created_at, priority, attempt, max_attempts, name, args, error)
  select 1 + n % 2, pg_temp.id_in(8, n), now(), 0, 0, 1, 'work', '{}', jsonb_build_object('name', '${skippedErrorName}')
  from generate_series(1, 3) as n;
  insert into longshore.job_dependency (parent_id, child_id, queue_id, condition, marked)
  values ('${failed}', pg_temp.id_in(8, 1), 2, 'onDone', true), ('${failed}', pg_temp.id_in(8, 2), 1, 'onDone', true),
    (pg_temp.id_in(8, 2), pg_temp.id_in(8, 3), 2, 'onDone', true);
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, unnest(array['enqueued', 'processing']::longshore.job_state[]), 4 from generate_series(1, 3) as queue_id;
  insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, percent, message)
  select queue_id, id, started_at, 0, attempt, started_at, 50, 'half' from longshore.job where server_id is not null;
  insert into longshore.job_cancellation (queue_id, job_id, reason)
  select queue_id, id, 'late' from longshore.job where server_id is not null order by id limit 3;
  insert into longshore.server (id, host, pid, queues, concurrency, timeout_ms) values ('${id}', 'here', 1, '{mail}', 5, 1000);
  insert into longshore.recurring_job (id, name, args, queue, priority, max_attempts, cron, time_zone, misfire, misfire_limit, overlap,
    next_due_at, last_job_id)
  select due.id, 'work', '{}', 'mail', 0, 1, '* * * * *', 'UTC', 'once', 1, 'wait', now() - interval '1 minute', last_job_id
  from (values ('busy', '${ready}'::uuid), ('idle', '${failed}'), ('new', null)) as due (id, last_job_id)`;

const from = '2026-11-28T11:55:00Z';
const until = '2026-11-28T12:05:00Z';
/** The parameters that select a page of the feed with jobs of any kind. */
const page = [from, id, until, 5, null, null, null, null, null];

/** Parameters of the statements that read and have a second form, by their names without the prefix `longshore-`. */
const reads: Readonly<Record<string, readonly unknown[]>> = {
  'find-job': [ready, null],
  'find-documents': [ids[4], 2],
  'select-job-times': [failed, null],
  'find-jobs': [ids],
  'find-bare-jobs': [ids],
  'find-small-jobs': [ids, queues],
  'find-undocumented-jobs': [ids, queues],
  'select-documents': [ids, queues],
  'size-of-jobs': [ids],
  'find-parents': [ids],
  'select-holders': [2, ids, ids.map(() => true)],
  'select-latest-failed': [5],
  'select-latest-failed-of': [5, 2],
  'select-earlier-failed': [5, failed, until],
  'select-earlier-failed-of': [5, 2, failed, until],
  'already-finished': [ids, ids.map(() => id), ids.map(() => 2)],
  'select-started': page,
  'select-created': [...page, '00000000-0000-0000-0000-000000000000'],
  'select-blocking-keys': [1, 3],
  'select-stalled-leases': [1_000, 5],
  'select-lost': [2, [ready], 5],
  'sweep-ready': [[1, 2, 3], id],
  'lock-unsuccessful': [ids],
  'select-busy-recurring': [['busy', 'idle', 'new']],
  'lock-due-recurring': [10],
  'count-skipped': [[failed], 10],
};

describe('The forms of statements for Citus', () => {
  let database: TestDatabase;
  let client: pg.Client;

  before(async () => {
    await import('../src/index.js'); // defines all statements
    database = await createClusterOfOne();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(stored);
  });
  // Each test has a transaction, in which the time stands still.
  beforeEach(() => client.query('begin'));
  afterEach(() => client.query('rollback'));
  after(async () => {
    await client.end();
    await database.drop();
  });

  async function rowsOf(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return (await client.query<Row>(text, [...values])).rows;
  }

  for (const [name, values] of Object.entries(reads))
    it(`find the same jobs as the other form: ${name}`, async () => {
      const { text = '', citus = '' } = staticStatements().get(`longshore-${name}`) ?? {};
      const usual = await rowsOf(text, values);
      expect(usual).not.to.have.length(0);
      expect(inColumns(usual, await rowsOf(citus, values))).to.have.deep.members(usual);
    });

  it('find the same jobs as the other form, in the same order, for lists and searches of every shape', async () => {
    const usual = new Map(builtQueries('none'));
    const json = (rows: readonly Row[]): string => JSON.stringify(rows); // compared faster than the objects
    let found = 0;
    for (const [shape, query] of builtQueries('citus')) {
      const other = usual.get(shape);
      if (query === undefined || other === undefined || query.text === other.text) continue;
      const rows = await rowsOf(other.text, other.values);
      const others = inColumns(rows, await rowsOf(query.text, query.values));
      expect(json(others), shape).to.equal(json(rows));
      found += Number(rows.length > 0);
    }
    expect(found).to.be.above(500);
  });

  it('group the same errors', async () => {
    const sinceMs = 10 ** 13;
    const { text, citus = '' } = selectErrorGroups(sinceMs, searchedTime);
    const usual = await rowsOf(text, [sinceMs, 100, 100]);
    expect(usual).to.have.length(2);
    expect(await rowsOf(citus, [sinceMs, 100, 100])).to.have.deep.members(usual);
  });

  for (const names of [null, ['files'], ['mail']])
    it(`restore the same skipped jobs, for someone who sees ${names?.join() ?? 'all'}`, async () => {
      const { text, citus = '' } = restoreSkipped;
      await client.query('savepoint stored');
      const usual = await rowsOf(text, [[failed], names]);
      await client.query('rollback to savepoint stored');
      const other = await rowsOf(citus, [[failed], names]);
      expect(usual).to.have.nested.property('[0].restored', names === null ? 3 : 1);
      expect(other).to.deep.equal(usual);
    });
});

type Row = Readonly<Record<string, unknown>>;

/** Returns rows with only those columns that the rows of the other form have. */
function inColumns([first]: readonly Row[], rows: readonly Row[]): readonly Row[] {
  const columns = Object.keys(first ?? {});
  return first === undefined
    ? rows
    : rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])));
}
