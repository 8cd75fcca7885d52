import { type Claim, ClaimLostError, maxSignals, newId } from '@longshore/jobs/storage';
import { stepOf } from '@longshore/jobs-storage-tests';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const hourMs = 3_600_000;
describe('Steps on Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: pg.Client;
  let queues = 0;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    client = new pg.Client(database.url);
    await client.connect();
    await client.query('create table note (text text)');
  });

  after(async () => {
    await client.end();
    await storage.close();
    await database.drop();
  });

  async function claimOne(meta: { correlate?: string } | null = null): Promise<Claim> {
    const [id, queue] = [newId(), `queue-${++queues}`];
    const job = { id, queue, name: 'work', args: '{}', priority: 0, maxAttempts: 3, due: null, meta };
    await storage.enqueuer.enqueue([job]);
    const description = { host: 'x', pid: 1, queues: [queue], concurrency: 1, timeoutMs: hourMs };
    const server = await storage.servers.register(description);
    await storage.claims.claim({ serverId: server.id, queue, limit: 1, leaseMs: hourMs });
    return { jobId: id, queue, serverId: server.id, attempt: 1 };
  }

  const history = ({ jobId: id, queue }: Claim): ReturnType<typeof storage.steps.read> =>
    storage.steps.read({ id, queue });
  const notes = async (): Promise<string[]> =>
    (await client.query<{ text: string }>('select text from note order by text')).rows.map(
      ({ text }) => text,
    );
  const value = async (sql: string, values: unknown[]): Promise<unknown> => {
    const { rows } = await client.query<{ value: unknown }>(sql, values);
    return rows[0]?.value;
  };

  it('several transactional steps of a job run beside each other', async () => {
    const claim = await claimOne();
    let arrived = 0;
    let meet: () => void = () => undefined;
    const together = new Promise<void>((resolve) => (meet = resolve));
    const run = (name: string): Promise<void> =>
      storage.steps.recordInTransaction(claim, async (transaction) => {
        if (++arrived === 2) meet();
        await together;
        await transaction.query('insert into note values ($1)', [name]);
        return stepOf(name);
      });
    await Promise.all([run('one'), run('two')]);
    expect(await notes()).to.deep.equal(['one', 'two']);
    expect((await history(claim)).steps.map(({ name }) => name)).to.have.members(['one', 'two']);
  });

  it('a transactional step whose lease is lost before it starts does nothing', async () => {
    const claim = await claimOne();
    await storage.claims.release([claim]);
    const error = await storage.steps
      .recordInTransaction(claim, async (transaction) => {
        await transaction.query("insert into note values ('lost')");
        return stepOf('lost');
      })
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ClaimLostError);
    expect(await notes()).not.to.include('lost');
  });

  it('the lease of a transactional step cannot be taken over until it has committed', async () => {
    const claim = await claimOne();
    await storage.steps.recordInTransaction(claim, async () => {
      const rescue = `select id from longshore.job where id = $1 for update skip locked`;
      expect((await client.query(rescue, [claim.jobId])).rows).to.deep.equal([]);
      return stepOf('held');
    });
    expect((await history(claim)).steps.map(({ name }) => name)).to.deep.equal(['held']);
  });

  for (const [what, change, expected] of [
    ['the lease is renewed', "lease_until = now() + interval '1 hour'", ['waited']],
    ['another server takes over the job', 'server_id = gen_random_uuid()', []],
  ] as const)
    it(`a step that waits for its job’s lock is stored only under its own lease: ${what}`, async () => {
      const claim = await claimOne();
      await client.query('begin');
      await client.query(`update longshore.job set ${change} where id = $1`, [claim.jobId]);
      const recorded = storage.steps.record(claim, [stepOf('waited')]).catch((thrown: unknown) => thrown);
      await eventually(
        () =>
          database.query(
            `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%job_step%'`,
          ),
        (blocked) => blocked.length > 0,
      );
      await client.query('commit');
      const error = await recorded;
      if (expected.length === 0) expect(error).to.be.instanceOf(ClaimLostError);
      else expect(error).to.equal(undefined);
      expect((await history(claim)).steps.map(({ name }) => name)).to.deep.equal(expected);
    });

  it('longshore.signal reaches unfinished jobs, once per id', async () => {
    const claim = await claimOne();
    const send = `select longshore.signal($1, 'packed', '{"parcels": 2}', 'delivery-1') as value`;
    expect(await value(send, [claim.jobId])).to.equal(1);
    expect(await value(send, [claim.jobId])).to.equal(1);
    expect(await value(send, [newId()])).to.equal(0);
    const { signals } = await history(claim);
    expect(signals.map(({ name, id, data }) => ({ name, id, data }))).to.deep.equal([
      { name: 'packed', id: 'delivery-1', data: { parcels: 2 } },
    ]);
  });

  it('longshore.signal_correlated reaches all unfinished jobs with the key', async () => {
    const [one, other] = [await claimOne({ correlate: 'order:7' }), await claimOne({ correlate: 'order:7' })];
    const ended = await claimOne({ correlate: 'order:7' });
    await storage.completions.complete([
      { claim: ended, outcome: { kind: 'done', result: 'null' }, hasMeta: true },
    ]);
    expect(await value(`select longshore.signal_correlated('order:7', 'packed') as value`, [])).to.equal(2);
    const counts = await Promise.all(
      [one, other, ended].map(async (claim) => (await history(claim)).signals.length),
    );
    expect(counts).to.deep.equal([1, 1, 0]);
  });

  for (const [what, call] of [
    ['without a name', `longshore.signal($1, '')`],
    ['with a name of Longshore', `longshore.signal($1, 'job:1')`],
    ['with an empty id', `longshore.signal($1, 'a', 'null', '')`],
    ['with more than 1 MiB', `longshore.signal($1, 'a', to_jsonb(repeat('x', 1048577)))`],
  ] as const)
    it(`a signal from SQL ${what} is refused`, async () => {
      const claim = await claimOne();
      const error = await client.query(`select ${call}`, [claim.jobId]).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: '22023' });
      expect((await history(claim)).signals).to.deep.equal([]);
    });

  it('a job accepts no further signal once it has too many', async () => {
    const claim = await claimOne({ correlate: 'order:8' });
    await client.query(
      `insert into longshore.job_signal (queue_id, job_id, name, id, data)
       select queue_id, id, kind || n, n, 'null' from longshore.job, generate_series(1, $2) as n, unnest(array['a', 'job:']) as kind
       where id = $1 and (kind = 'job:' or n < $2)`,
      [claim.jobId, maxSignals],
    );
    const send = (name: string) => storage.steps.signal(claim.jobId, { name, id: '1' });
    expect(await send('last')).to.include({ outcome: 'ok', changed: true });
    expect(await send('excess')).to.include({ outcome: 'full' });
    expect(await send('a1')).to.include({ outcome: 'ok', changed: false });
    for (const sql of [`signal('${claim.jobId}', 'excess')`, `signal_correlated('order:8', 'excess')`]) {
      const error = await client.query(`select longshore.${sql}`).catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: '54000' }).with.property('message').that.contains(claim.jobId);
    }
    expect((await history(claim)).signals).to.have.length(2 * maxSignals);
  });

  it('housekeeping deletes the steps and signals of jobs that retention has dropped, and no others', async () => {
    const [kept, dropped] = [await claimOne(), await claimOne()];
    for (const claim of [kept, dropped]) {
      await storage.steps.record(claim, [stepOf('one')]);
      await storage.steps.signal(claim.jobId, { name: 'packed' });
    }
    await client.query('delete from longshore.job where id = $1', [dropped.jobId]);
    // Its sweep has rested since the storage was opened.
    const other = new PostgresStorage({ url: database.url, ...patientStorage });
    await other.open();
    await other.maintenance.maintain();
    await other.close();
    expect(await history(dropped)).to.deep.equal({ steps: [], signals: [] });
    const { steps, signals } = await history(kept);
    expect([steps.length, signals.length]).to.deep.equal([1, 1]);
  });
});
