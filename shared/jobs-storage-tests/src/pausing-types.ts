import { expect } from 'chai';
import { it } from 'mocha';
import type { Fixture } from './storage-under-test.js';

/** Defines the tests of pausing job types. Each test uses its own names. */
export function pausingTypes(fixture: Fixture): void {
  it('keeps servers from claiming jobs of a paused type, but no others, whether or not they registered names', async () => {
    for (const jobNames of [undefined, ['types.paused', 'types.other']]) {
      const queue = fixture.newQueue();
      await fixture.enqueue(queue, { name: 'types.paused' });
      await fixture.enqueue(queue, { name: 'types.other' });
      await fixture.storage.jobTypes.pause('types.paused');
      const { id } = await fixture.register(queue, jobNames);
      expect((await fixture.claim(id, queue)).map(({ name }) => name)).to.deep.equal(['types.other']);
      await fixture.storage.jobTypes.resume('types.paused');
    }
  });

  it('are listed in the order of an alphabet, as queues are', async () => {
    const names = ['order.Z', 'order.b', 'order.a', 'order.B', 'order.z'];
    const sorted = ['order.a', 'order.b', 'order.B', 'order.z', 'order.Z'];
    const { jobTypes, queues } = fixture.storage;
    for (const name of names) {
      await jobTypes.pause(name);
      await fixture.enqueue(name);
    }
    const listed = (list: readonly { readonly name: string }[]): string[] =>
      list.map(({ name }) => name).filter((name) => name.startsWith('order.'));
    expect([listed(await jobTypes.listPaused()), listed(await queues.list())]).to.deep.equal([
      sorted,
      sorted,
    ]);
    for (const name of names) await jobTypes.resume(name);
  });

  it('lets servers claim the jobs that they skipped as soon as the type is resumed', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.register(queue);
    await fixture.storage.jobTypes.pause('types.resumed');
    for (let count = 0; count < 5; count++) {
      await fixture.enqueue(queue, { name: 'types.resumed' });
      await fixture.enqueue(queue, { name: 'types.between' });
    }
    expect(await fixture.claim(id, queue)).to.have.length(5);
    expect(await fixture.claim(id, queue)).to.have.length(0);
    const notified = new Promise<void>((resolve) => {
      const stop = fixture.storage.onNotification((notification) => {
        if (notification.kind !== 'ready' || notification.queue !== queue) return false;
        stop();
        resolve();
        return false;
      });
    });
    await fixture.storage.jobTypes.resume('types.resumed');
    await notified;
    const claimed = await fixture.claim(id, queue);
    expect(claimed.map(({ name }) => name)).to.deep.equal(Array.from({ length: 5 }, () => 'types.resumed'));
  });

  it('lists paused types, and returns the pause that was in effect', async () => {
    const { jobTypes } = fixture.storage;
    expect(await jobTypes.pause('types.listed')).to.equal(null);
    const paused = (await jobTypes.listPaused()).find(({ name }) => name === 'types.listed');
    expect(await jobTypes.pause('types.listed')).to.deep.equal(paused);
    expect(await jobTypes.resume('types.listed')).to.deep.equal(paused);
    expect(await jobTypes.resume('types.listed')).to.equal(null);
    expect((await jobTypes.listPaused()).map(({ name }) => name)).not.to.include('types.listed');
  });

  it('stores the audit entry of pausing a type, or changes nothing', async () => {
    const { jobTypes, audit } = fixture.storage;
    const entry = { who: 'ann', action: 'types/pause', target: 'types.audited', filter: null, count: 1 };
    const refusal = await jobTypes
      .pause('types.audited', {
        audit: () => {
          throw new TypeError('no entry');
        },
      })
      .catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(TypeError);
    expect((await jobTypes.listPaused()).map(({ name }) => name)).not.to.include('types.audited');
    await jobTypes.pause('types.audited', {
      audit: (before) => ({ ...entry, count: before === null ? 1 : 0 }),
    });
    expect((await audit.list({ limit: 1, target: 'types.audited' }))[0]).to.include(entry);
    await jobTypes.resume('types.audited');
  });
}
