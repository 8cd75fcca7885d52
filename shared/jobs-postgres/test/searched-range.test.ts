import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const searched = 10_000;

describe('Words that occur in more jobs than are searched', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    await storage.jobs.list({ limit: 1 });
    // Every other job contains the word; ids are in creation order.
    await database.query(`
      with queue as (insert into longshore.queue (name) values ('feeds') returning id),
      counted as (insert into longshore.job_count (queue_id, state, jobs) select id, 'failed', 12000 from queue)
      insert into longshore.job_history_failed
        (queue_id, id, created_at, finished_at, priority, attempt, max_attempts, name, args)
      select queue.id, ('019a' || lpad(to_hex(n), 8, '0') || '70008000000000000000')::uuid, now(), now(), 0, 1, 1, 'import',
        case when n % 2 = 0 then '{"partner": "feed-9"}' else '{}' end::jsonb
      from queue, generate_series(1, 12000) as n`);
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  const filter = { q: 'feed-9' };

  it('are counted with a lower bound', async () => {
    expect(await storage.jobs.count(filter)).to.deep.equal({ count: searched / 2, exact: false });
    const { failed, done } = await storage.jobs.countByState(filter);
    expect({ failed, done }).to.deep.equal({
      failed: { count: searched / 2, exact: false },
      done: { count: 0, exact: true },
    });
  });

  it('can be searched for further from the last job searched', async () => {
    const { lastIds } = await storage.jobs.searchedRange({ filter });
    expect(Object.keys(lastIds)).to.deep.equal(['failed']);
    const after = lastIds.failed ?? '';
    expect(await storage.jobs.searchedRange({ filter, after })).to.deep.include({ lastIds: {} });
    const older = await storage.jobs.list({ filter, after, limit: 2_000 });
    const newer = await storage.jobs.list({ filter, limit: 10_000 });
    expect(newer.length + older.length).to.equal(6_000);
  });

  it('restrict an action to the jobs that were searched and counted', async () => {
    const request = { action: 'delete', filter } as const;
    const confirmed = await storage.bulk.preview(request);
    expect(confirmed.count).to.deep.equal({ count: searched / 2, exact: true });
    const { id } = await storage.bulk.start({ ...request, confirmed });
    while (await storage.bulk.advance());
    expect(await storage.bulk.find(id)).to.include({ state: 'done', changed: searched / 2, skipped: 0 });
    expect(await storage.jobs.count({ ...filter, state: ['failed'] })).to.include({ count: 1_000 });
  });
});
