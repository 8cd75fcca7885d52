import { expect } from 'chai';
import { it } from 'mocha';
import { type BulkRequest, type JobFilter, newId } from '@longshore/jobs/storage';
import { BulkFixture } from './bulk-fixture.js';
import { type Fixture, hourMs, yearMs } from './storage-under-test.js';

/** Defines the tests of reading, continuing and stopping bulk operations. */
export function keepingBulkOperations(fixture: Fixture): void {
  const bulk = new BulkFixture(fixture);

  it('continues in chunks until it has processed every job', async () => {
    const queue = fixture.newQueue();
    await bulk.fill(queue, 2_300);
    await bulk.fill(queue, 300, { due: { inMs: yearMs } });
    const operation = await fixture.storage.bulk.start({ action: 'cancel', filter: { queue: [queue] } });
    expect(operation).to.deep.include({
      state: 'running',
      matched: { count: 2_600, exact: true },
      changed: 0,
    });
    expect(await bulk.carriedOut(operation.id)).to.include({ state: 'done', changed: 2_600, skipped: 0 });
    expect(await fixture.storage.jobs.count({ queue: [queue], state: ['cancelled'] })).to.include({
      count: 2_600,
    });
  });

  it('stops a cancelled operation, and leaves the remaining jobs unchanged', async () => {
    const queue = fixture.newQueue();
    await bulk.fill(queue, 2_300);
    const { id } = await fixture.storage.bulk.start({ action: 'cancel', filter: { queue: [queue] } });
    while (((await fixture.storage.bulk.find(id))?.changed ?? 0) === 0) await fixture.storage.bulk.advance();
    const cancelled = await fixture.storage.bulk.cancel(id);
    expect(cancelled).to.include({ state: 'cancelled' });
    expect(cancelled?.finishedAt).to.be.a('date');
    await fixture.storage.bulk.advance();
    const { count } = await fixture.storage.jobs.count({ queue: [queue], state: ['cancelled'] });
    expect(count).to.equal(cancelled?.changed);
    expect(count).to.be.below(2_300);
  });

  it('changes exactly the jobs that were confirmed, and records which', async () => {
    const queue = fixture.newQueue();
    const request = { action: 'cancel', filter: { queue: [queue] } } as const;
    const ids = await bulk.fill(queue, 30);
    const confirmed = await fixture.storage.bulk.preview(request);
    expect(confirmed.count).to.deep.equal({ count: 30, exact: true });
    await fixture.storage.control.cancel(ids[0] ?? '');
    await fixture.untilAfter(confirmed.asOf);
    await bulk.fill(queue, 5);
    const operation = await bulk.carryOut({ ...request, confirmed });
    expect(operation).to.deep.include({ matched: { count: 30, exact: true }, changed: 29 });
    const [newest, ...rest] = ids.slice(1).toSorted().toReversed();
    const { bulk: operations } = fixture.storage;
    expect(await operations.listChanged(operation.id, { limit: 1 })).to.deep.equal([newest]);
    const following = await operations.listChanged(operation.id, { limit: 50, after: newest ?? '' });
    expect(following).to.deep.equal(rest);
    const oldest = await operations.listChanged(operation.id, { order: 'oldest', limit: 50 });
    expect(oldest).to.deep.equal([newest, ...rest].toReversed());
    const next = { order: 'oldest', limit: 1, after: oldest[0] ?? '' } as const;
    expect(await operations.listChanged(operation.id, next)).to.deep.equal([oldest[1]]);
  });

  it('changes no more jobs than were confirmed, although more of the listed ones match meanwhile', async () => {
    const ids = await bulk.fill(fixture.newQueue(), 2);
    const { control } = fixture.storage;
    await control.cancel(ids[0] ?? '');
    const request = { action: 'cancel', filter: { id: ids } } as const;
    const confirmed = await fixture.storage.bulk.preview(request);
    expect(confirmed.count).to.deep.equal({ count: 1, exact: true });
    await control.retry(ids[0] ?? '');
    expect(await bulk.carryOut({ ...request, confirmed })).to.include({ changed: 1 });
  });

  it('changes nothing before its delay has passed, and never if it is cancelled before', async () => {
    const queue = fixture.newQueue();
    const [id = ''] = await bulk.fill(queue, 1);
    const request = { action: 'cancel', filter: { id: [id] }, delayMs: hourMs } as const;
    const started = await fixture.storage.bulk.start(request);
    expect(started.startsAt.getTime() - started.createdAt.getTime()).to.equal(hourMs);
    await fixture.storage.bulk.advance();
    expect(await fixture.storage.bulk.find(started.id)).to.include({ state: 'pending', seen: 0 });
    await fixture.storage.bulk.cancel(started.id);
    expect(await fixture.storage.bulk.find(started.id)).to.include({ state: 'cancelled', changed: 0 });
    expect(await fixture.storage.jobs.find(id)).to.include({ state: 'enqueued' });
  });

  it('lists operations, newest first, in pages', async () => {
    const started: string[] = [];
    for (let index = 0; index < 3; index++) {
      const filter = { queue: [fixture.newQueue()] };
      started.push((await bulk.carryOut({ action: 'run', filter, requestedBy: 'ann' })).id);
    }
    const newestFirst = started.toSorted().toReversed(); // ids created in the same millisecond may be in any order
    const [first, ...rest] = await fixture.storage.bulk.list({ limit: 3 });
    expect(first).to.include({
      id: newestFirst[0],
      requestedBy: 'ann',
      action: 'run',
      state: 'done',
      error: null,
    });
    expect(rest.map(({ id }) => id)).to.deep.equal(newestFirst.slice(1));
    const page = await fixture.storage.bulk.list({ limit: 1, after: newestFirst[0] ?? '' });
    expect(page.map(({ id }) => id)).to.deep.equal([newestFirst[1]]);
  });

  it('returns no operation for an unknown id', async () => {
    expect(await fixture.storage.bulk.find('nothing')).to.equal(null);
    expect(await fixture.storage.bulk.cancel(newId())).to.equal(null);
  });

  it('rejects too many ids, and an unknown action', async () => {
    const id = Array.from({ length: 1_001 }, () => newId());
    const tooMany: unknown = await fixture.storage.bulk
      .start({ action: 'cancel', filter: { id } })
      .catch((reason: unknown) => reason);
    expect(tooMany).to.be.instanceOf(RangeError);
    const action = 'destroy' as BulkRequest['action'];
    const unknown: unknown = await fixture.storage.bulk
      .start({ action, filter: { queue: [fixture.newQueue()] } })
      .catch((reason: unknown) => reason);
    expect(unknown).to.be.instanceOf(RangeError);
  });

  for (const filter of [
    {},
    { id: [], state: [] },
    { q: ' ' },
    { args: [{ path: ['order'], values: [] }] },
  ] satisfies JobFilter[]) {
    it(`rejects a filter that matches every job: ${JSON.stringify(filter)}`, async () => {
      const refused: unknown = await fixture.storage.bulk
        .start({ action: 'delete', filter })
        .catch((reason: unknown) => reason);
      expect(refused).to.be.instanceOf(RangeError);
    });
  }
}
