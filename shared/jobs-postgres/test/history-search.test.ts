import type { Job } from '@longshore/jobs';
import {
  errorFingerprint,
  type JobFilter,
  type JobOrder,
  type JobOrderMember,
  type JobPlace,
  type SortedJobsPage,
} from '@longshore/jobs/storage';
import { eventually, ManualClock, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { Database } from '../src/connection/database.js';
import { HistoryIndexes } from '../src/history/history-indexes.js';
import { Lull } from '../src/history/lull.js';
import { PostgresStorage } from '../src/index.js';
import { databaseOptions } from '../src/connection/options.js';
import { fingerprintOfError } from '../src/jobs/job-conditions.sql.js';
import { createStoreDatabase } from './support/store-database.js';

const perDay = 30_000;
/** A job of each day whose name no other has, and that the search in either order reaches only by an index. */
const late = 25_000;
const dayMs = 86_400_000;
/** The UTC date two days ago. Yesterday would not do, because it does not count as ended until 00:15 UTC. */
const endedDay = new Date(Date.now() - 2 * dayMs).toISOString().slice(0, 10);

/**
 * The history consists of a past day and the current day. Each has more jobs than a query reads before it uses an
 * index.
 */
describe('A large history in Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    await database.query(
      `create table longshore.job_history_done_${endedDay.replaceAll('-', '')} partition of longshore.job_history_done
       for values from ('${endedDay}T00:00:00Z') to ('${new Date(Date.parse(endedDay) + dayMs).toISOString()}')`,
    );
    await storage.queues.pause('frequent');
    await storage.queues.pause('rare');
    for (const [at, n] of [
      [`${endedDay}T12:00:00Z`, 0],
      [new Date().toISOString(), perDay],
    ] as const) {
      // The first five jobs of each day are the rare ones.
      await database.query(
        `insert into longshore.job_history_done
           (queue_id, id, created_at, finished_at, priority, attempt, max_attempts, name, args, meta)
         select queue.id, overlay(longshore.new_id()::text placing lpad(to_hex($2::bigint + n), 8, '0') from 1 for 8)::uuid, $1, $1,
           0, 1, 10, case when n <= 5 then 'rare' when n = ${late} then 'late' else 'frequent' end,
           jsonb_build_object('n', $2::bigint + n, 'kind', case when n <= 5 then 'rare' else 'frequent' end),
           jsonb_build_object('tags', array[case when n <= 5 then 'rare' else 'frequent' end])
         from generate_series(1, $3::integer) as n
         join longshore.queue on queue.name = case when n <= 5 then 'rare' else 'frequent' end`,
        [at, n, perDay],
      );
    }
    await database.query(
      `insert into longshore.job_count (queue_id, state, jobs)
       select queue_id, state, count(*) from longshore.job_history group by queue_id, state`,
    );
    await database.query('analyze longshore.job_history_done');
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  const numbers = async (filter: JobFilter, order?: 'oldest', after?: string): Promise<unknown[]> => {
    const page = { filter, limit: 7, ...(order && { order }), ...(after && { after }) };
    return (await storage.jobs.list(page)).map(({ args }) => (args as { n: number }).n);
  };
  const by = (member: JobOrderMember, descending: boolean): JobOrder => [
    { by: member, descending },
    { by: 'id', descending },
  ];
  const sorted = (member: JobOrderMember, descending: boolean, filter: JobFilter): Promise<SortedJobsPage> =>
    storage.jobs.listSorted({ filter, order: by(member, descending), limit: 7, maxBytes: Infinity });
  const numbersOf = (jobs: readonly Job[]): unknown[] => jobs.map(({ args }) => (args as { n: number }).n);
  const rare: Record<string, JobFilter> = {
    name: { name: ['rare'] },
    queue: { queue: ['rare'] },
    tag: { tag: ['rare'] },
    arguments: { args: [{ path: ['kind'], values: ['rare'] }] },
    'one of several names': { name: ['rare', 'rarer'] },
    'name and queue': { name: ['rare'], queue: ['rare', 'frequent'] },
  };

  function finds(): void {
    for (const [by, filter] of Object.entries(rare)) {
      it(`returns the newest jobs of a rare ${by}, however far back they are`, async () => {
        const wanted = [5, 4, 3, 2, 1].map((n) => perDay + n);
        expect(await numbers(filter)).to.deep.equal([...wanted, 5, 4]);
        expect(await numbers(filter, 'oldest')).to.deep.equal([1, 2, 3, 4, 5, perDay + 1, perDay + 2]);
        expect(await storage.jobs.count(filter)).to.deep.equal({ count: 10, exact: true });
      });
    }

    it('returns the same to a caller that has already read the nearest jobs', async () => {
      for (const filter of [...Object.values(rare), { name: ['frequent'] }]) {
        const { jobs } = await storage.jobs.listBrief({ filter, limit: 7, reach: 'history' });
        expect(jobs).to.deep.equal((await storage.jobs.listBrief({ filter, limit: 7 })).jobs);
      }
    });

    it('returns them by their finish, latest and earliest first', async () => {
      // All jobs of a day finished together, so they are sorted by id.
      for (const filter of [...Object.values(rare), {}, { name: ['frequent'] }])
        for (const descending of [true, false]) {
          const { jobs, partial } = await sorted('finishedAt', descending, filter);
          expect([numbersOf(jobs), partial]).to.deep.equal([
            await numbers(filter, descending ? undefined : 'oldest'),
            false,
          ]);
        }
    });

    it('returns the first by their finish, however many others are before it', async () => {
      for (const descending of [true, false]) {
        const query = { filter: { name: ['late'] }, order: by('finishedAt', descending), maxBytes: Infinity };
        const { jobs } = await storage.jobs.listSorted({ ...query, limit: 1 });
        expect(numbersOf(jobs)).to.deep.equal([descending ? perDay + late : late]);
      }
    });

    it('continues by their finish from page to page, in both directions', async () => {
      const after = (jobs: readonly Job[]): JobPlace => [
        jobs.at(-1)?.finishedAt ?? null,
        jobs.at(-1)?.id ?? '',
      ];
      const first = (await sorted('finishedAt', true, { name: ['rare'] })).jobs;
      const query = {
        filter: { name: ['rare'] },
        order: by('finishedAt', true),
        limit: 7,
        maxBytes: Infinity,
      };
      const next = (await storage.jobs.listSorted({ ...query, after: after(first) })).jobs;
      expect(numbersOf(next)).to.deep.equal([3, 2, 1]);
      const back = await storage.jobs.listSorted({ ...query, reversed: true, after: after(next) });
      expect(numbersOf(back.jobs)).to.deep.equal([2, 3, 4, 5, perDay + 1, perDay + 2, perDay + 3]);
    });

    it('compares the newest of them in other orders, and says if there are more', async () => {
      const all = await sorted('priority', false, {});
      expect([all.jobs.length, all.partial]).to.deep.equal([7, true]);
      const few = await sorted('priority', false, { name: ['rare'] });
      expect([few.jobs.length, few.partial]).to.deep.equal([7, false]);
    });

    it('continues from page to page', async () => {
      const page = await storage.jobs.list({ filter: { name: ['rare'] }, limit: 7 });
      expect(await numbers({ name: ['rare'] }, undefined, page.at(-1)?.id)).to.deep.equal([3, 2, 1]);
    });

    it('returns the newest of frequent matches', async () => {
      const wanted = [7, 6, 5, 4, 3, 2, 1].map((n) => 2 * perDay - 7 + n);
      for (const filter of [{ name: ['frequent'] }, { queue: ['frequent'] }, { tag: ['frequent'] }])
        expect(await numbers(filter)).to.deep.equal(wanted);
      expect(await storage.jobs.count({ name: ['frequent'] })).to.deep.equal({ count: 10_000, exact: false });
    });

    it('respects the requested times', async () => {
      const finishedBefore = new Date(`${endedDay}T13:00:00Z`);
      expect(await numbers({ name: ['rare'], finishedBefore })).to.deep.equal([5, 4, 3, 2, 1]);
      expect(
        await numbers({ finishedBefore, finishedAfter: new Date(`${endedDay}T12:30:00Z`) }),
      ).to.deep.equal([]);
    });
  }

  finds();

  it('reports when there may be more than the nearest jobs', async () => {
    const near = await storage.jobs.listBrief({ filter: { name: ['rare'] }, limit: 7, reach: 'near' });
    expect(near).to.deep.equal({ jobs: [], isComplete: false });
    const frequent = await storage.jobs.listBrief({
      filter: { name: ['frequent'] },
      limit: 7,
      reach: 'near',
    });
    expect(frequent.jobs).to.have.length(7);
    expect(frequent.isComplete).to.equal(true);
    const last = await storage.jobs.listBrief({
      filter: { name: ['frequent'] },
      limit: 2_001,
      reach: 'near',
    });
    expect(last.jobs).to.have.length(2_000);
    expect(last.isComplete).to.equal(false);
  });

  it('finds jobs by id immediately, however far back they are', async () => {
    const [oldest] = await storage.jobs.list({ order: 'oldest', limit: 1 });
    const near = await storage.jobs.listBrief({
      filter: { id: [oldest?.id ?? ''] },
      limit: 7,
      reach: 'near',
    });
    expect([near.jobs.map(({ id }) => id), near.isComplete]).to.deep.equal([[oldest?.id], true]);
  });

  it('counts the jobs of each state', async () => {
    const counts = await storage.jobs.countByState({ name: ['frequent'] });
    expect(counts.done).to.deep.equal({ count: 10_000, exact: false });
    expect(counts.failed).to.deep.equal({ count: 0, exact: true });
  });

  it('searches text only in the nearest jobs', async () => {
    expect(await numbers({ q: 'frequent' })).to.have.length(7);
    expect(await numbers({ q: 'rare' })).to.deep.equal([]);
  });

  it('searches the newest jobs of each state for words, reports that there are more, and goes further back if asked to', async () => {
    const search = async (filter: JobFilter): Promise<unknown> => {
      const { jobs, total, partial } = await storage.jobs.search({ filter, limit: 7, maxBytes: 1_000_000 });
      return [jobs.map(({ args }) => (args as { n: number }).n), total, partial];
    };
    const newest = [7, 6, 5, 4, 3, 2, 1].map((n) => 2 * perDay - 7 + n);
    expect(await search({ q: 'frequnt' })).to.deep.equal([newest, 10_000, true]);
    expect(await search({ q: 'rare' })).to.deep.equal([[], 0, true]);
    const createdBefore = new Date(6 * 2 ** 16); // before job 6: the ids begin with job numbers instead of times
    expect(await search({ q: 'rare', createdBefore })).to.deep.equal([[5, 4, 3, 2, 1], 5, false]);
  });

  describe('whose past days are indexed', () => {
    let builder: HistoryIndexes;
    let reading: Database;
    let building: Database;
    const indexes = async (valid: boolean): Promise<string[]> => {
      const rows = await database.query<{ name: string }>(
        `select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
         where indisvalid = $1 and relname ~ '^job_history_(done|failed|cancelled)_[0-9]{8}_(queue|name|args)$' order by 1`,
        [valid],
      );
      return rows.map(({ name }) => name);
    };
    const table = `job_history_done_${endedDay.replaceAll('-', '')}`;
    const names = ['args', 'name', 'queue'].map((kind) => `${table}_${kind}`);

    before(async () => {
      reading = new Database(databaseOptions({ url: database.url, ...patientStorage }));
      building = new Database(databaseOptions({ url: database.url, ...patientStorage }));
      builder = new HistoryIndexes(reading, building);
      while ((await builder.buildNext()) !== null);
    });

    after(async () => {
      await builder.close();
      await reading.close();
    });

    it('is indexed on a large past day, and not on the current one', async () => {
      expect(await indexes(true)).to.deep.equal(names);
    });

    finds();

    it('rebuilds an index whose build was interrupted', async () => {
      await database.query(
        `update pg_index set indisvalid = false where indexrelid = 'longshore.${table}_name'::regclass`,
      );
      expect(await builder.buildNext()).to.equal(`${table}_name`);
      expect(await indexes(true)).to.deep.equal(names);
      expect(await indexes(false)).to.deep.equal([]);
    });

    it('is indexed by a server', async () => {
      await database.query(`drop index longshore.${table}_queue`);
      const patient = new HistoryIndexes(reading, building, new Lull(reading, 0));
      await eventually(
        () => {
          patient.begin();
          return indexes(true);
        },
        (built) => built.length === names.length,
      );
    });

    it('is indexed once servers have kept up with their jobs for a minute, not while they lag behind', async () => {
      await database.query(`drop index longshore.${table}_queue`);
      const clock = new ManualClock();
      const lull = new Lull(reading, 60_000, clock.now);
      await database.query(`
        with busy as (insert into longshore.queue (name) values ('busy') returning id)
        insert into longshore.job_count (queue_id, state, jobs) select id, 'enqueued', 100000 from busy`);
      for (let minutes = 0; minutes < 10; minutes++) {
        expect(await lull.canStart()).to.equal(false);
        clock.advance(60_000);
      }
      expect(await lull.canStart()).to.equal(false);
      await database.query(
        `delete from longshore.job_count using longshore.queue where queue.id = queue_id and name = 'busy'`,
      );
      clock.advance(59_999);
      expect(await lull.canStart()).to.equal(false);
      clock.advance(1);
      expect(await lull.canStart()).to.equal(true);
      await builder.buildNext();
      expect(await indexes(true)).to.have.length(names.length);
    });
  });

  it('normalizes errors in SQL as the fingerprint does', async () => {
    const messages = [
      'No ship 17 for "order 4"',
      `can't find 'x' or \`y\` in "z" 'open`,
      'id 01a1fd0b-59cf-7aa2-8784-bfc9dbd3d762 at 0xDEADbeef12, 0123456789abcdef0, deadbeef, abc123',
      `${'é𝄞'.repeat(150)} 5\nsecond line 6`,
      '\n9',
      '',
      '12.5e10 <n> 99%',
    ];
    const errors = messages.map((message) => ({ name: 'Error', message }));
    const rows = await database.query<{ kind: string }>(
      `select ${fingerprintOfError('error')} as kind from unnest($1::jsonb[]) with ordinality as e (error, place) order by place`,
      [errors.map((error) => JSON.stringify(error))],
    );
    expect(rows.map(({ kind }) => kind)).to.deep.equal(errors.map((error) => errorFingerprint(error)));
  });
});
