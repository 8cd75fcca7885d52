import { errorFingerprint } from '@longshore/jobs/storage';
import type { TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { staticStatements } from '../src/connection/statement.js';
import { restoreSkipped } from '../src/dependencies/skipped-jobs.js';
import { selectErrorGroups, selectFailureBuckets } from '../src/statistics/error-groups.sql.js';
import { builtQueries, searchedId as id, searchedTime } from './support/built-queries.js';
import { createClusterOfOne } from './support/cluster-of-one.js';
import { failed, ids, running, stored } from './support/stored-jobs.js';

const queues = ids.map(() => 2);

const from = '2026-11-20T11:55:00Z';
const until = '2026-11-20T12:05:00Z';
/** The parameters that select a page of the feed with jobs of any kind. */
const page = [from, id, until, 5, null, null, null, null, null];

/** Parameters of the statements that read and have a second form, by their names without the prefix `longshore-`. */
const reads: Readonly<Record<string, readonly unknown[]>> = {
  'find-job': [running, null],
  'find-documents': [ids[4], 2],
  'select-job-times': [failed, null],
  'find-jobs': [ids],
  'find-bare-jobs': [ids],
  'find-job-results': [ids],
  'find-small-jobs': [ids, queues],
  'find-undocumented-jobs': [ids, queues],
  'select-documents': [ids, queues],
  'size-of-jobs': [ids],
  'find-parents': [ids],
  'find-live': [ids],
  'find-correlated': ['order:1', 5],
  'select-holders': [2, ids, ids.map(() => true)],
  'select-latest-failed': [5],
  'select-latest-failed-of': [5, 2],
  'select-earlier-failed': [5, failed, until],
  'select-earlier-failed-of': [5, 2, failed, until],
  'already-finished': [ids, ids.map(() => id), ids.map(() => 2)],
  'select-started': page,
  'select-created': [...page, '00000000-0000-0000-0000-000000000000'],
  'select-blocking-keys': [1, 3],
  'select-stalled-leases': [1_000, 100],
  'select-latest-lines': [[2], [running], [from], 100],
  'select-lost': [2, [running], 5],
  'sweep-ready': [[1, 2, 3], id],
  'lock-unsuccessful': [ids],
  'select-busy-recurring': [['busy', 'idle', 'new']],
  'lock-due-recurring': [10, null],
  'count-skipped': [[failed], 10],
  'take-unmarked-dependencies': ['00000000-0000-0000-0000-000000000000', 10],
};

const [, blocked, scheduled, awaiting] = ids;
const created = ['01890000-0000-7000-8000-0000000000a1', '01890000-0000-7000-8000-0000000000a2'];
const at = '2026-12-24T12:00:00Z';
const described = [
  ['work', 'other'],
  [0, 5],
  [10, 3],
];
const plain = [null, { tags: ['blue'] }];
const keyed = [null, { concurrencyKey: 'new', concurrencyLimit: 1 }];
const claim = [2, id, 3, 60_000, [0, 1, 2, 3], [0, 0, 0, 0], [9_999, 9_999, 9_999, 9_999]];
const edit = ['[{"a": 1}]', [5], [at], [1], [null], '[["red"]]'];

/**
 * Parameters of the statements that write and have a second form, by their names without the prefix `longshore-`.
 */
const writes: Readonly<Record<string, readonly unknown[]>> = {
  'insert-alike': [1, created, '[{}, {"a": 1}]', 'work', 0, 10],
  'insert-alike-late': [1, created, '[{}, {"a": 1}]', 'work', 0, 10],
  'insert-ready': [1, created, '[{}, {"a": 1}]', ...described, plain],
  'insert-ready-late': [1, created, '[{}, {"a": 1}]', ...described, plain],
  'insert-blocked': [1, created, '[{}, {"a": 1}]', ...described, keyed],
  'insert-blocked-late': [1, created, '[{}, {"a": 1}]', ...described, keyed],
  'insert-waiting': [1, created, '[{}, {"a": 1}]', ...described, plain, [at, null], [null, 1_000]],
  'insert-awaiting': [1, created, '[{}, {"a": 1}]', ...described, plain, [at, null], [null, 1_000]],
  'promote-due': [2, 3, '-infinity'],
  'promote-some': [2, [scheduled]],
  'claim-ready': claim,
  'claim-within-limits': claim,
  'rescue-jobs': [2],
  'rescue-some': [2, [running]],
  'release-awaiting': [2, [awaiting]],
  'edit-job_scheduled': [2, [scheduled], ...edit],
  'edit-job_awaiting': [2, [awaiting], ...edit],
  'change-queue-related-rows': [2, [running], [1], '2026-11-20T12:00:00Z'],
  'replace-jobs': [
    2,
    [blocked, scheduled, awaiting],
    '[{}, {}, {}]',
    [1, 1, 1],
    [5, 5, 5],
    [null, null, null],
    [null, at, null],
    [null, null, 1_000],
  ],
  'claim-unique': [2, ['names'], ['held'], [failed], ['{done}'], [1_000], ['c']],
  'sweep-unique': [0, '', '', 10],
  'delete-gone-moved-jobs': [10],
  'take-outbox-entries': [10],
  'delete-strays-job_history_done': ['20261120'],
  'delete-strays-job_history_failed': ['20261120'],
  'delete-strays-job_history_cancelled': ['20261120'],
  'delete-strays-job_report': ['20261120'],
  'fold-counts': [],
  'record-keys-with-room': [],
  'retire-queue': ['empty', false, null, null, null],
  'return-queues': [],
  'retire-idle-queues': [1],
  'pause-type': ['work-2', 'ada', 'Stocktaking', at],
  'resume-type': ['work-2'],
  'resume-type-when-due': ['work-3'],
  'insert-reports': [2, [running], [id], [2], 99_999, [1], [0], [at], [null], [60], ['more'], [null]],
  'restore-skipped': [[failed], null],
};

/** Tables and what differs from one execution to the next: numbers from sequences, and times in the middle of a transaction. */
const tables: Readonly<Record<string, readonly string[]>> = {
  job: ['seq', 'started_at', 'lease_until'],
  job_blocked: ['seq'],
  job_scheduled: [],
  job_awaiting: [],
  job_history: [],
  job_report: [],
  job_cancellation: [],
  job_step: [],
  job_signal: [],
  job_key: [],
  job_dependency: [],
  moved_job: [],
  outbox: ['id'],
  queue: [],
  paused_type: [],
  throughput: [],
  recurring_job: [],
};

/** Reads all rows of these tables, and the sums of the counters. */
const contents = [
  ...Object.entries(tables).map(
    ([table, differing]) =>
      `select '${table}' as place, (to_jsonb(stored) - '{${differing.join()}}'::text[])::text as row from longshore.${table} as stored
       where coalesce((to_jsonb(stored) ->> 'queue_id')::integer, 0) >= 0`,
  ),
  `select 'job_count', concat_ws(' ', queue_id, state, sum(jobs)) from longshore.job_count group by queue_id, state having sum(jobs) <> 0`,
].join(' union all ');

/** Why the other statements are not compared, by their names without the prefix `longshore-`. */
const others: Readonly<Record<string, string>> = {
  'their parts see what earlier ones have changed, which only a cluster does': `finish-done finish-done-any finish-failed
    finish-failed-any finish-cancelled finish-cancelled-any finish-snooze finish-snooze-any finish-suspend finish-suspend-any
    finish-retry finish-retry-any`,
  'they return snapshots, places in a sequence or sizes, which are different on a cluster': `scan-state poll-ready next-due
    settled-up-to select-heads select-heads-from find-chores select-indexed-days select-ready-pages`,
  'it changes only indexes': 'summarize-times',
};

describe('The two forms of statements', () => {
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
  beforeEach(() => client.query('begin; savepoint stored'));
  afterEach(() => client.query('rollback'));
  after(async () => {
    await client.end();
    await database.drop();
  });

  async function storedRows(): Promise<readonly string[]> {
    const { rows } = await client.query<{ place: string; row: string }>(`${contents} order by 1, 2`);
    return rows.map(({ place, row }) => `${place}: ${row}`);
  }

  async function storedAfter(text: string, values: readonly unknown[]): Promise<readonly string[]> {
    await client.query(text, [...values]);
    return storedRows();
  }

  async function rowsOf(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return (await client.query<Row>(text, [...values])).rows;
  }

  it('are compared, unless there is a reason not to', () => {
    const compared = [...Object.keys(reads), ...Object.keys(writes)];
    const excused = Object.values(others).flatMap((names) => names.split(/\s+/));
    const pairs = [...staticStatements()].filter(([, { citus }]) => citus !== undefined);
    expect(pairs.map(([name]) => name.replace('longshore-', ''))).to.have.members([...compared, ...excused]);
  });

  for (const [name, values] of Object.entries(reads))
    it(`find the same: ${name}`, async () => {
      const { text = '', citus = '' } = staticStatements().get(`longshore-${name}`) ?? {};
      const usual = await rowsOf(text, values);
      expect(usual).not.to.have.length(0);
      expect(inColumns(usual, await rowsOf(citus, values))).to.have.deep.members(usual);
    });

  it('find the same jobs, in the same order, for lists and searches of every shape', async () => {
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

  it('count the same failures over time', async () => {
    const sinceMs = 10 ** 13;
    const { text, citus = '' } = selectFailureBuckets(sinceMs, searchedTime);
    const { text: groups } = selectErrorGroups(sinceMs, searchedTime);
    const kinds = await rowsOf(groups, [sinceMs, 100, 100]);
    const fingerprints = kinds.map(({ error_name: name, message }) =>
      errorFingerprint({ name: String(name), message: String(message) }),
    );
    const values = [
      sinceMs,
      kinds.map(({ name }) => name),
      fingerprints,
      kinds.map(() => 10),
      0,
      10 ** 12,
      3,
    ];
    const usual = await rowsOf(text, values);
    expect(usual).to.have.length(2);
    expect(await rowsOf(citus, values)).to.have.deep.members(usual);
  });

  for (const names of [null, ['files'], ['mail']])
    it(`restore the same skipped jobs, for someone who sees ${names?.join() ?? 'all'}`, async () => {
      const { text, citus = '' } = restoreSkipped;
      const usual = await rowsOf(text, [[failed], names]);
      await client.query('rollback to savepoint stored');
      const other = await rowsOf(citus, [[failed], names]);
      expect(usual).to.have.nested.property('[0].restored', names === null ? 3 : 1);
      expect(other).to.deep.equal(usual);
    });
  for (const [name, values] of Object.entries(writes))
    it(`store the same: ${name}`, async () => {
      const { text = '', citus = '' } = staticStatements().get(`longshore-${name}`) ?? {};
      const before = await storedRows();
      const usual = await storedAfter(text, values);
      await client.query('rollback to savepoint stored');
      const other = await storedAfter(citus, values);
      expect(usual).not.to.deep.equal(before);
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
