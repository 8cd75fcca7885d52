import { defineJob, MemoryStorage, type NewRecurringJob, type RecurringJob } from '@longshore/jobs';
import { expect } from 'chai';
import Type from 'typebox';
import { EnqueueRequests } from '../src/enqueue-requests.js';
import { CallerQuotas } from '../src/quotas.js';
import { RecurringJobBodies } from '../src/recurring-job-bodies.js';
import { NewRecurringJobItem, type RecurringJobBody, toRecurringJobItem } from '../src/recurring-job-item.js';

const dredge = defineJob({
  name: 'dredge',
  args: Type.Object({ port: Type.String() }),
  concurrency: { key: ({ port }) => port, limit: 1 },
  unique: { key: ({ port }) => port },
});

/** Returns a recurring job as a body that changes nothing. */
function bodyOf(job: RecurringJob): RecurringJobBody {
  const fields = Object.entries(toRecurringJobItem(job)).filter(
    ([name]) => name in NewRecurringJobItem.properties,
  );
  return Object.fromEntries(fields) as RecurringJobBody;
}

describe('Bodies that change a recurring job', () => {
  const storage = new MemoryStorage();
  const bodiesUpTo = (maxBacklog: number): RecurringJobBodies =>
    new RecurringJobBodies(new EnqueueRequests([dredge], false), new CallerQuotas(storage), maxBacklog);
  const bodies = bodiesUpTo(Infinity);
  after(() => storage.close());

  const make = async (body: object = {}): Promise<RecurringJob> => {
    const given = { id: 'dredge', name: 'dredge', args: { port: 'Rotterdam' }, every: '1 h', ...body };
    return storage.recurring.addOrUpdate(await bodies.created(given));
  };
  const keysOf = ({ concurrency, unique }: NewRecurringJob): unknown => [concurrency?.key, unique?.key];
  const args = { port: 'Hamburg' };

  it('derive its keys from its new arguments', async () => {
    const current = await make();
    expect([current.concurrency?.key, current.unique?.key]).to.deep.equal(['Rotterdam', 'Rotterdam']);
    const changed = await bodies.changed({ ...bodyOf(current), args }, current);
    expect(keysOf(changed)).to.deep.equal(['Hamburg', 'Hamburg']);
  });

  it('keep keys that were set', async () => {
    const current = await make({ concurrency: { key: 'quay', limit: 1 }, unique: null });
    const changed = await bodies.changed({ ...bodyOf(current), args }, current);
    expect(keysOf(changed)).to.deep.equal(['quay', undefined]);
  });

  it('set other keys', async () => {
    const current = await make();
    const body = { ...bodyOf(current), args, concurrency: null, unique: { key: 'other' } };
    expect(keysOf(await bodies.changed(body, current))).to.deep.equal([undefined, 'other']);
  });

  it('set no larger backlog than the API accepts, but keep one that was set in code', async () => {
    const current = { ...(await make()), maxBacklog: 70 };
    const item = bodyOf(current);
    const limited = bodiesUpTo(50);
    expect((await limited.changed(item, current)).maxBacklog).to.equal(70);
    expect((await limited.changed({ ...item, maxBacklog: null }, current)).maxBacklog).to.equal(50);
    expect((await limited.changed({ ...item, maxBacklog: 40 }, current)).maxBacklog).to.equal(40);
    const refused = limited.changed({ ...item, maxBacklog: 60 }, current);
    expect(await refused.catch(String)).to.contain('maxBacklog is at most 50');
  });
});
