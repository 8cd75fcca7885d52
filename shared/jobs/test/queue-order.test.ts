import { expect } from 'chai';
import { defineJob, handleJob, JobClient, MemoryStorage } from '../src/index.js';
import { QueueOrder } from '../src/server/queue-order.js';
import { jobInState, whileServing } from './support/serving.js';

describe('The order of queues', () => {
  it('is always the order of a list', () => {
    const order = new QueueOrder(['critical', 'default', 'critical']);
    expect([order.next(), order.next()]).to.deep.equal([
      ['critical', 'default'],
      ['critical', 'default'],
    ]);
  });

  it('starts with a queue in proportion to its weight', () => {
    const order = new QueueOrder({ critical: 6, default: 3, low: 1 });
    const firsts = new Map<string, number>();
    for (let draw = 0; draw < 20_000; draw++) {
      const [first = ''] = order.next();
      firsts.set(first, (firsts.get(first) ?? 0) + 1);
    }
    // The tolerances are about twelve standard deviations, so the test does not fail by chance.
    expect((firsts.get('critical') ?? 0) / 20_000).to.be.closeTo(0.6, 0.04);
    expect((firsts.get('low') ?? 0) / 20_000).to.be.closeTo(0.1, 0.025);
  });

  it('contains every queue', () => {
    const order = new QueueOrder({ critical: 1_000, low: 1 });
    expect([...order.next()].toSorted()).to.deep.equal(['critical', 'low']);
  });

  it('rejects a weight that is not an integer from 1 to 1000', () => {
    for (const weight of [0, -1, 1.5, 1_001, Number.NaN]) {
      expect(() => new QueueOrder({ low: weight })).to.throw(RangeError, 'The weight of the queue "low"');
    }
  });

  it('rejects an empty list', () => {
    expect(() => new QueueOrder({})).to.throw(RangeError, 'at least one queue');
  });

  it('lets a server reach every weighted queue', async () => {
    const storage = new MemoryStorage();
    const task = defineJob({ name: 'task' });
    const client = new JobClient(storage);
    const work = async (): Promise<void> => {
      const jobs = await Promise.all(['heavy', 'light'].map((queue) => client.enqueue(task, {}, { queue })));
      for (const { id } of jobs) await jobInState(storage, id, 'done');
    };
    const queues = { heavy: 6, light: 3 };
    await whileServing(storage, 'heavy', [handleJob(task, () => null)], work, { queues });
  });
});
