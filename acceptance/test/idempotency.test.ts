import { expect } from 'chai';
import pg from 'pg';
import { eventually } from '@longshore/test-support';
import { getJson } from './system/jobs.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A request with an `Idempotency-Key`, and a query that counts its effects. */
interface Keyed {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  /** A query whose only row contains the number of effects as `n`. */
  readonly effects: string;
}

const jobsIn = (queue: string): string =>
  `select count(*)::integer as n from longshore.job join longshore.queue on queue.id = queue_id where queue.name = '${queue}'`;

const greet = (queue: string): object => ({ name: 'greet', args: { name: 'Ada' }, queue });

describe('an api that is killed in the middle of requests with an Idempotency-Key', () => {
  const system = useSystem({ API_SEED_ROWS: '60' });
  let database: pg.Client;
  let requests: Record<string, Keyed>;

  const send = async (api: Service, name: string): Promise<Answer> => {
    const { method, path, body } = requests[name] ?? expect.fail(`there is no request ${name}`);
    const response = await fetch(`${api.url}/api/v1${path}`, {
      method,
      headers: { 'idempotency-key': name, 'content-type': 'application/json' },
      body: JSON.stringify(body ?? {}),
    });
    return { status: response.status, body: await response.json() };
  };
  const count = async (query: string): Promise<number> =>
    (await database.query<{ n: number }>(query)).rows[0]?.n ?? 0;

  before(async () => {
    const doomed = await system().start('api');
    database = new pg.Client(system().postgres.url);
    database.on('error', () => undefined); // Postgres may end the connection first
    await database.connect();
    const api = `${doomed.url}/api/v1`;
    const [order] = await getJson<{ id: string; customerId: string; storeId: string }[]>(
      `${api}/orders?limit=1`,
    );
    if (order === undefined) throw new Error('the example has no orders');
    await database.query(`update shop."order" set status = 'returned' where id = $1`, [order.id]);
    const schedule = { cron: '0 0 1 1 *', ...greet('scheduled') };
    await fetch(`${api}/recurring-jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'yearly', ...schedule }),
    });
    const { customerId, storeId } = order;
    requests = {
      job: { method: 'POST', path: '/jobs', body: greet('single'), effects: jobsIn('single') },
      array: { method: 'POST', path: '/jobs', body: [greet('array')], effects: jobsIn('array') },
      batch: {
        method: 'POST',
        path: '/batches',
        body: { jobs: [greet('batch')] },
        effects: jobsIn('batch'),
      },
      recurring: {
        method: 'POST',
        path: '/recurring-jobs',
        body: { id: 'new-years-eve', ...schedule },
        effects: `select count(*)::integer as n from longshore.recurring_job where id = 'new-years-eve'`,
      },
      trigger: { method: 'PUT', path: '/recurring-jobs/yearly/trigger', effects: jobsIn('scheduled') },
      order: {
        method: 'POST',
        path: '/orders',
        body: { customerId, storeId, address: 'Sent twice' },
        effects: `select count(*)::integer as n from shop."order" where address = 'Sent twice'`,
      },
      refund: {
        method: 'PUT',
        path: `/orders/${order.id}/refund`,
        effects: `select count(*)::integer as n from longshore.job where name = 'refund-order'`,
      },
    };

    const blocker = new pg.Client(system().postgres.url);
    await blocker.connect();
    await blocker.query(
      'begin; lock table longshore.job, longshore.recurring_job, shop."order" in share mode',
    );
    const lost = Object.keys(requests).map((name) => send(doomed, name).catch(() => 'lost'));
    await eventually(
      () =>
        count(
          `select count(*)::integer as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting === lost.length,
    );
    await doomed.end('SIGKILL');
    expect(await Promise.all(lost)).to.deep.equal(lost.map(() => 'lost'));
    await blocker.query('commit');
    await blocker.end();
    await eventually(
      () =>
        count(`select count(*)::integer as n from pg_stat_activity where application_name = 'longshore api'`),
      (connections) => connections === 0,
    );
  });

  after(() => database.end());

  it('carries each of them out once, however often they are repeated', async () => {
    const api = await system().start('api');
    const found: Record<string, unknown> = {};
    for (const [name, { effects }] of Object.entries(requests)) {
      const [first, again] = [await send(api, name), await send(api, name)];
      expect(again, name).to.deep.equal(first);
      found[name] = [Math.floor(first.status / 100), await count(effects)];
    }
    const once = [2, 1];
    expect(found).to.deep.equal({
      job: once,
      array: once,
      batch: once,
      recurring: once,
      trigger: once,
      order: once,
      refund: once,
    });
  });
});
