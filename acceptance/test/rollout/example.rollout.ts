import path from 'node:path';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { house } from '../house/house.js';
import { type Postgres, startPostgres } from '../system/postgres.js';
import { run, type Running } from '../system/process.js';
import { freePort, launchService, type Service, type ServiceName, untilReady } from '../system/service.js';

const programs = path.join(house, 'acceptance/example/programs/dist');

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly args: unknown;
  readonly result: unknown;
}

describe('deploying the second version of the example over the first', () => {
  let postgres: Postgres;
  let database: pg.Client;
  let api: Service;
  const running: Running[] = [];

  async function start(name: ServiceName, version: 'first' | 'second'): Promise<Service> {
    const LONGSHORE_APP = path.join(programs, version, 'application.js');
    const service = await launchService(name, { DATABASE_URL: postgres.url, LONGSHORE_APP });
    running.push(service);
    return untilReady(service);
  }

  /** Starts a program that serves HTTP, and resolves to it and its address. */
  async function startWeb(version: 'first' | 'second'): Promise<Running & { readonly url: string }> {
    const port = await freePort();
    const env = { DATABASE_URL: postgres.url, PORT: String(port) };
    const program = run(path.join(programs, version, 'web.js'), [], env);
    running.push(program);
    await eventually(
      () => program.lines,
      (lines) => lines.some((line) => line.includes('listening')),
    );
    return { ...program, url: `http://127.0.0.1:${port}` };
  }

  const post = (url: string, body: unknown): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const jobs = async (query: string): Promise<Listed[]> =>
    (await (await fetch(`${api.url}/api/v1/jobs?limit=100&${query}`)).json()) as Listed[];

  const finished = (query: string, count: number): Promise<Listed[]> =>
    eventually(
      () => jobs(`${query}&state=done&state=failed&state=cancelled`),
      (listed) => listed.length >= count,
    );

  const states = async (): Promise<Record<number, string>> => {
    const { rows } = await database.query<{ id: number; state: string }>(
      'select id, state from desk.purchase',
    );
    return Object.fromEntries(rows.map(({ id, state }) => [id, state]));
  };

  before(async () => {
    postgres = await startPostgres();
    database = new pg.Client(postgres.url);
    await database.connect();
  });

  after(async () => {
    await Promise.all(running.map((program) => program.end('SIGKILL')));
    await database.end();
    await postgres.remove();
  });

  it('runs every job of both versions, each in the form that its handler expects', async () => {
    api = await start('api', 'first');
    const firstWeb = await startWeb('first');
    for (const purchase of [1, 2, 3, 4])
      expect(
        (await post(`${firstWeb.url}/purchases`, { purchase, email: `${purchase}@old` })).status,
      ).to.equal(201);
    const firstWorker = await start('worker', 'first');
    await finished('name=send-receipt', 4);

    const secondWorker = await start('worker', 'second');
    for (const purchase of [5, 6])
      await post(`${firstWeb.url}/purchases`, { purchase, email: `${purchase}@old` });
    await firstWorker.end('SIGTERM');
    for (const purchase of [7, 8])
      await post(`${firstWeb.url}/purchases`, { purchase, email: `${purchase}@old` });
    await finished('name=send-receipt', 8);

    const secondWeb = await startWeb('second');
    expect((await post(`${secondWeb.url}/receipts`, { purchase: 'nine' })).status).to.equal(422);
    await database.query('insert into desk.purchase (id) values (9)');
    expect((await post(`${secondWeb.url}/receipts`, { purchase: 9, to: '9@new' })).status).to.equal(202);
    await finished('name=mail-receipt', 1);

    const { rows } = await database.query<{ purchase: number; sent_to: string }>(
      'select * from desk.receipt order by purchase',
    );
    expect(rows).to.have.length(9);
    expect(rows.at(-1)).to.deep.equal({ purchase: 9, sent_to: '9@new (en)' });
    expect(rows.slice(6, 8)).to.deep.equal([
      { purchase: 7, sent_to: '7@old (en)' },
      { purchase: 8, sent_to: '8@old (en)' },
    ]);
    const endings = await Promise.all(
      [secondWorker, firstWeb, secondWeb].map((program) => program.end('SIGTERM')),
    );
    expect(endings).to.deep.equal(['exit 0', 'exit 0', 'exit 0']);
  });

  it('ships what it can ship, and refunds the rest', async () => {
    const worker = await start('worker', 'second');
    const all = await eventually(states, (found) =>
      [1, 2, 3, 4, 5, 6, 7, 8].every((id) => found[id] !== 'ordered'),
    );
    for (const id of [1, 3, 5, 7]) expect(all[id]).to.equal('refunded');
    for (const id of [2, 4, 6, 8]) expect(all[id]).to.equal('shipped');
    expect((await jobs('name=ship&state=done')).map(({ result }) => result)).to.deep.include({
      shippedFor: 'payment of 2',
    });
    await worker.end('SIGTERM');
  });

  it('summarizes an import of which a line failed', async () => {
    const web = await startWeb('second');
    await post(`${web.url}/imports`, { lines: ['nail=3', 'screw', 'bolt=7'] });
    const [summary] = await finished('name=summarize-import', 1);
    expect(summary?.result).to.deep.equal({ lines: 3, cents: 10, failures: ['"screw" has no price'] });
    await web.end('SIGTERM');
  });

  it('calls each webhook once, and names the receipt as what enqueued it', async () => {
    const [webhook, ...rest] = await finished('name=call-webhook', 9);
    expect(rest).to.have.length(8);
    expect(webhook).to.have.property('enqueuedBy').that.is.a('string');
  });

  it('takes over the schedule and the limit of the second version', async () => {
    const of = async (where: string): Promise<unknown> => (await fetch(`${api.url}/api/v1/${where}`)).json();
    expect(await of('recurring-jobs/nightly-report')).to.include({ every: '6 h', cron: null });
    expect(await of('queues/webhooks')).to.include({ concurrencyLimit: 10 });
  });
});
