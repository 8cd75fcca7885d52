import { expect } from 'chai';
import { it } from 'mocha';
import type { Job, JobError } from '@longshore/jobs';
import { type JobSearchPage, type JobSearchQuery, newId } from '@longshore/jobs/storage';
import { type Fixture, yearMs } from './storage-under-test.js';

const maxBytes = 1_000_000;

/** Defines the tests of searches that tolerate typos. Each test uses its own queue. */
export function searchingTexts(fixture: Fixture): void {
  const search = (queue: string, q: string, query: Partial<JobSearchQuery> = {}): Promise<JobSearchPage> =>
    fixture.storage.jobs.search({
      limit: 100,
      maxBytes,
      ...query,
      filter: { queue: [queue], ...query.filter, q },
    });
  const found = async (queue: string, q: string, query: Partial<JobSearchQuery> = {}): Promise<string[]> => {
    const { jobs, total, partial } = await search(queue, q, query);
    expect([total, partial], 'all of them').to.deep.equal([jobs.length, false]);
    return jobs.map(({ id }) => id);
  };
  const fail = async (queue: string, message: string): Promise<string> => {
    const { claim } = await fixture.claimOne({ queue });
    const error: JobError = { name: 'RangeError', message, stack: null };
    await fixture.storage.completions.complete([{ claim, outcome: { kind: 'failed', error } }]);
    return claim.jobId;
  };
  /** Enqueues one job with each name and resolves to their ids, oldest first. */
  const named = async (queue: string, names: readonly string[]): Promise<string[]> => {
    const start = Date.now();
    const ids: string[] = [];
    for (const [index, name] of names.entries())
      ids.push((await fixture.enqueue(queue, { name, id: newId(start + index) })).id);
    return ids;
  };

  for (const [typo, word] of Object.entries({
    'a wrong letter': 'refumd',
    'a missing letter': 'rfund',
    'an extra letter': 'reffund',
    'two swapped letters': 'refnud',
    'a wrong first letter': 'tefund',
    'no typo in other cases': 'REFUND',
  })) {
    it(`finds jobs by a word with ${typo}`, async () => {
      const queue = fixture.newQueue();
      const [id] = await named(queue, ['shop.sendRefund', 'shop.mail']);
      expect(await found(queue, word)).to.deep.equal([id]);
    });
  }

  it('takes two typos in long words, and no more', async () => {
    const queue = fixture.newQueue();
    const [id] = await named(queue, ['newsletter']);
    expect(await found(queue, 'mewsleter')).to.deep.equal([id]);
    expect(await found(queue, 'mewslefer')).to.deep.equal([]);
    expect(await found(queue, 'letre')).to.deep.equal([]);
  });

  it('tolerates typos in words of tags, queues and errors, and finds the words meant in arguments, too', async () => {
    const queue = `${fixture.newQueue()}.invoices`;
    const [tagged] = [await fixture.enqueue(queue, { meta: { tags: ['very urgent'] } })];
    expect(await found(queue, 'urgnet')).to.deep.equal([tagged.id]);
    expect(await found(queue, 'invocies')).to.deep.equal([tagged.id]);
    await fixture.storage.control.cancel(tagged.id);
    const failed = await fail(queue, 'No harbour for 7');
    const given = await fixture.enqueue(queue, { args: '{"to":"Harbour 7"}' });
    expect(await found(queue, 'habour')).to.have.members([failed, given.id]);
  });

  it('takes words with digits and short words literally', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { name: 'fix', meta: { tags: ['order48151'] } });
    expect(await found(queue, 'order48151')).to.deep.equal([id]);
    expect(await found(queue, 'order48152')).to.deep.equal([]);
    expect(await found(queue, 'fax')).to.deep.equal([]);
  });

  it('lists what contains the words first, then what has the fewest typos, newest first', async () => {
    const queue = fixture.newQueue();
    const names = ['shipment', 'shipments', 'shipmant', 'shipmont', 'unshipment'];
    const [old, plural, one, other, longer] = await named(queue, names);
    expect(await found(queue, 'shipment')).to.deep.equal([longer, plural, old, other, one]);
    expect(await found(queue, 'shipmant')).to.deep.equal([one, longer, other, plural, old]);
  });

  it('lists matches by creation if asked to, and goes on after a job', async () => {
    const queue = fixture.newQueue();
    const [first, second, third] = await named(queue, ['refund', 'rfund', 'refund']);
    const newest = { order: 'newest' } as const;
    expect(await found(queue, 'refund', newest)).to.deep.equal([third, second, first]);
    expect(await found(queue, 'refund', { order: 'oldest' })).to.deep.equal([first, second, third]);
    const page = await search(queue, 'refund', { ...newest, limit: 1, after: third ?? '' });
    expect([page.jobs.map(({ id }) => id), page.total]).to.deep.equal([[second], 3]);
    const back = await search(queue, 'refund', { order: 'oldest', after: second ?? '' });
    expect(back.jobs.map(({ id }) => id)).to.deep.equal([third]);
  });

  it('lists the same jobs page by page, with the same total on each page and beyond', async () => {
    const queue = fixture.newQueue();
    await named(queue, ['refund', 'rfund', 'refund', 'refunds', 'mail']);
    const all = await found(queue, 'refund');
    expect(all).to.have.length(4);
    const paged: string[] = [];
    for (let offset = 0; offset <= 4; offset++) {
      const { jobs, total } = await search(queue, 'refund', { limit: 1, offset });
      paged.push(...jobs.map(({ id }) => id));
      expect(total, `at ${offset}`).to.equal(4);
    }
    expect(paged).to.deep.equal(all);
  });

  it('finds jobs of every state, and only those that match every other member', async () => {
    const queue = fixture.newQueue();
    const ready = await fixture.enqueue(queue, { name: 'refund' });
    const scheduled = await fixture.enqueue(queue, { name: 'refund', due: { inMs: yearMs } });
    const parent = await fixture.enqueue(queue, { name: 'parent' });
    const awaiting = await fixture.enqueue(queue, {
      name: 'refund',
      after: { parents: [parent.id], when: 'onAny' },
      meta: { parentIds: [parent.id], tags: ['late'] },
    });
    const cancelled = await fixture.enqueue(queue, { name: 'refund', meta: { tags: ['late'] } });
    await fixture.storage.control.cancel(cancelled.id);
    const ids = [ready, scheduled, awaiting, cancelled].map(({ id }) => id);
    expect(await found(queue, 'rfund')).to.have.members(ids);
    expect(await found(queue, 'rfund', { filter: { tag: ['late'] } })).to.have.members([
      awaiting.id,
      cancelled.id,
    ]);
    expect(await found(queue, 'rfund', { filter: { state: ['cancelled'] } })).to.deep.equal([cancelled.id]);
    const finishedAfter = (await fixture.storage.jobs.find(cancelled.id))?.finishedAt ?? new Date(0);
    expect(await found(queue, 'rfund', { filter: { finishedAfter } })).to.deep.equal([cancelled.id]);
    expect(await found(fixture.newQueue(), 'rfund')).to.deep.equal([]);
  });

  it('finds running jobs', async () => {
    const { queue, claim } = await fixture.claimOne({ name: 'refund' });
    expect(await found(queue, 'rfund')).to.deep.equal([claim.jobId]);
    expect(await found(queue, 'rfund', { filter: { serverId: [claim.serverId] } })).to.deep.equal([
      claim.jobId,
    ]);
  });

  it('ends a page before its documents are too large, and leaves documents out if not asked for them', async () => {
    const queue = fixture.newQueue();
    const args = JSON.stringify({ refund: 'x'.repeat(20_000) });
    for (let number = 0; number < 3; number++) await fixture.enqueue(queue, { args });
    const page = await search(queue, 'refund', { maxBytes: 45_000 });
    expect([page.jobs.length, page.cut, page.total]).to.deep.equal([2, true, 3]);
    const bare = await search(queue, 'refund', { documents: false });
    expect(bare.jobs.map((job: Job) => job.args)).to.deep.equal([null, null, null]);
  });
}
