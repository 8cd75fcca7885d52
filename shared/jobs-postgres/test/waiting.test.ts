import { defineJob, JobClient } from '@longshore/jobs';
import { type ClaimedJob, type Outcome, type ServerRegistration, toJobError } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import fc from 'fast-check';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const servers = 3;
const queue = 'default';
const work = defineJob({ name: 'work', queue });

/** A server, as far as the storage knows it. */
interface Member {
  readonly storage: PostgresStorage;
  readonly registration: ServerRegistration;
  readonly held: ClaimedJob[];
  isDead: boolean;
}

/** A poll of a server for some kind of work, and the SQL for what such a poll must not overlook. */
interface Poll {
  readonly waiting: string;
  /** Polls, and processes what was found. Returns whether anything was found. */
  readonly run: (member: Member) => Promise<boolean>;
}

const polls: readonly Poll[] = [
  {
    waiting: 'select id from longshore.job where server_id is null and queue_id > 0',
    run: async ({ storage, registration: { id: serverId }, held }) => {
      const found = await storage.claims.findReady(serverId, [queue]);
      for (const ready of found)
        held.push(...(await storage.claims.claim({ serverId, queue: ready, limit: 5, leaseMs: 3_600_000 })));
      return found.length > 0;
    },
  },
  {
    waiting: 'select id from longshore.job_scheduled where run_at <= now() and queue_id > 0',
    run: async ({ storage }) => (await storage.maintenance.promoteDue(5)).promoted > 0,
  },
  {
    waiting: 'select job_id as id from longshore.outbox where queue_id > 0',
    run: async ({ storage }) => (await storage.maintenance.resolveDependencies(5)) > 0,
  },
];

const failed = toJobError(new Error('on purpose'));
const outcomes: readonly Outcome[] = [
  { kind: 'done', result: 'null' },
  { kind: 'failed', error: failed },
  { kind: 'retry', error: failed, delayMs: 0 },
  { kind: 'snooze', delayMs: 0 },
];

describe('A fleet of servers', () => {
  let database: TestDatabase;
  let client: PostgresStorage;
  let fleet: Member[];
  /** Transactions that stay open for a while. */
  let open: pg.Client[];
  let parents: string[];

  beforeEach(async () => {
    database = await createStoreDatabase();
    client = await opened();
    // A transaction that uses a priority first locks the queue, so those that stay open use known ones.
    await new JobClient(client).enqueue(work, {}, { priority: 1 });
    fleet = await Promise.all(Array.from({ length: servers }, join));
    open = [];
    parents = [];
  });

  afterEach(async () => {
    for (const connection of open) await connection.end();
    for (const { storage } of fleet) await storage.close();
    await client.close();
    await database.drop();
  });

  async function opened(): Promise<PostgresStorage> {
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    return storage;
  }

  async function join(): Promise<Member> {
    const storage = await opened();
    const description = { host: 'host', pid: 1, queues: [queue], concurrency: 1_000, timeoutMs: 3_600_000 };
    return { storage, registration: await storage.servers.register(description), held: [], isDead: false };
  }

  const pick = (index: number): Member | undefined => {
    const living = fleet.filter(({ isDead }) => !isDead);
    return living[index % living.length];
  };

  const enqueues: Readonly<Record<string, (priority: number, by: Member | undefined) => Promise<unknown>>> = {
    plain: (priority, by) => new JobClient(by?.storage ?? client).enqueue(work, {}, { priority }),
    delayed: (priority) => new JobClient(client).enqueue(work, {}, { priority, delayMs: 1 }),
    keyed: (priority) =>
      new JobClient(client).enqueue(work, {}, { priority, concurrency: { key: 'key', limit: 1 } }),
    parent: async () => parents.push((await new JobClient(client).enqueue(work)).id),
    awaiting: (priority) =>
      new JobClient(client).enqueue(
        work,
        {},
        { priority, ...(parents.length > 0 && { after: { parents: parents.slice(-3) } }) },
      ),
    sql: (priority) => database.query(`select longshore.enqueue('work', priority => $1)`, [priority]),
    late: async (priority) => {
      const connection = new pg.Client(database.url);
      await connection.connect();
      await connection.query('begin');
      await new JobClient(client).enqueue(
        work,
        {},
        { priority: Math.abs(priority), transaction: connection },
      );
      open.push(connection);
    },
    lateSql: async (priority) => {
      const connection = new pg.Client(database.url);
      await connection.connect();
      await connection.query('begin');
      await connection.query(`select longshore.enqueue('work', priority => $1)`, [Math.abs(priority)]);
      open.push(connection);
    },
  };

  async function commit(index: number): Promise<void> {
    const [connection] = open.splice(index % Math.max(1, open.length), 1);
    await connection?.query('commit');
    await connection?.end();
  }

  async function complete(index: number, outcome: Outcome): Promise<void> {
    const member = pick(index);
    const completions = member?.held.splice(0, 3).map(({ claim }) => ({ claim, outcome, hasMeta: true }));
    await member?.storage.completions.complete(completions ?? []);
  }

  async function release(index: number): Promise<void> {
    const member = pick(index);
    await member?.storage.claims.release(member.held.splice(0, 2).map(({ claim }) => claim));
  }

  /** Stops a server, unless it is the last one: without a word, or properly. Others take over what it has claimed. */
  async function lose(index: number, isProper: boolean): Promise<void> {
    const member = pick(index);
    if (member === undefined || fleet.filter(({ isDead }) => !isDead).length === 1) return;
    member.isDead = true;
    if (isProper) await member.storage.claims.release(member.held.map(({ claim }) => claim));
    if (isProper) await member.registration.unregister();
    else {
      await database.query('delete from longshore.server where id = $1', [member.registration.id]);
      await client.maintenance.rescue();
    }
  }

  /** A poll that finds nothing must not have overlooked anything. */
  async function poll(index: number, { waiting, run }: Poll): Promise<boolean> {
    const member = pick(index);
    if (member === undefined) return false;
    const before = await database.query<{ id: string }>(waiting);
    const hasFound = await run(member);
    if (!hasFound) expect(before, waiting).to.deep.equal([]);
    return hasFound;
  }

  const unfinished = (): Promise<{ state: string; jobs: string }[]> =>
    database.query(
      `select state, jobs from (select state, sum(jobs) as jobs from longshore.job_count group by state) as total
      where jobs > 0 and state not in ('done', 'failed', 'cancelled')`,
    );

  const index = fc.nat(20);
  const step: fc.Arbitrary<() => Promise<unknown>> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(fc.constantFrom(...Object.keys(enqueues)), fc.integer({ min: -1, max: 1 }), index)
        .map(
          ([way, priority, by]) =>
            () =>
              enqueues[way]?.(priority, pick(by)) ?? Promise.resolve(),
        ),
    },
    { weight: 2, arbitrary: index.map((drawn) => () => commit(drawn)) },
    { weight: 2, arbitrary: index.map((drawn) => () => release(drawn)) },
    {
      weight: 6,
      arbitrary: fc.tuple(index, fc.constantFrom(...polls)).map(
        ([member, drawn]) =>
          () =>
            poll(member, drawn),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.tuple(index, fc.constantFrom(...outcomes)).map(
        ([member, outcome]) =>
          () =>
            complete(member, outcome),
      ),
    },
    { weight: 1, arbitrary: fc.tuple(index, fc.boolean()).map((drawn) => () => lose(...drawn)) },
  );

  it('overlooks nothing: a poll that finds nothing began when there was nothing to find', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        for (const act of steps) await act();
        while (open.length > 0) await commit(0);
        let round = 0;
        await eventually(
          async () => {
            await client.maintenance.rescue();
            for (const each of polls) await poll(round, each);
            await complete(round++, { kind: 'done', result: 'null' });
            return unfinished();
          },
          (states) => states.length === 0,
          { checks: 300, everyMs: 1 },
        );
        for (const member of fleet.filter(({ isDead }) => isDead)) {
          fleet.splice(fleet.indexOf(member), 1);
          await member.storage.close();
        }
        while (fleet.length < servers) fleet.push(await join());
        parents = [];
      }),
      { numRuns: 12 },
    );
  });
});
