import { expect } from 'chai';
import { it } from 'mocha';
import type { AuditListQuery, NewAuditEntry } from '@longshore/jobs/storage';
import type { Fixture } from './storage-under-test.js';

export function auditing(fixture: Fixture): void {
  const entry = (own: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
    who: 'ada',
    action: 'jobs/retry',
    target: 'x',
    filter: null,
    count: 1,
    ...own,
  });
  const record = (own?: Partial<NewAuditEntry>) => fixture.storage.audit.record(entry(own));
  const newest = async () => (await fixture.storage.audit.list({ limit: 1 }))[0];

  it('stores who did what to which target', async () => {
    const recorded = entry({
      target: null,
      filter: { state: ['failed'], queue: ['ä'] },
      count: 12_345_678_901,
      reason: 'by mistake',
    });
    await record(recorded);
    const { id, at, ...kept } = (await newest()) ?? {};
    expect(kept).to.deep.equal(recorded);
    expect(id).to.be.a('string');
    expect(at).to.be.a('date');
  });

  it('lists the newest entries first, in pages', async () => {
    for (const target of ['first', 'second', 'third']) await record({ target });
    const [third, second] = await fixture.storage.audit.list({ limit: 2 });
    expect([third?.target, second?.target]).to.deep.equal(['third', 'second']);
    const [first] = await fixture.storage.audit.list({ limit: 1, after: second?.id ?? '' });
    expect(first?.target).to.equal('first');
  });

  it('lists the oldest entries first on request, and skips some', async () => {
    const who = fixture.newQueue();
    for (const target of ['first', 'second', 'third']) await record({ who, target });
    const listed = async (query: Omit<AuditListQuery, 'limit'>): Promise<unknown[]> =>
      (await fixture.storage.audit.list({ who, limit: 10, ...query })).map(({ target }) => target);
    expect(await listed({ order: 'oldest' })).to.deep.equal(['first', 'second', 'third']);
    expect(await listed({ order: 'oldest', offset: 1 })).to.deep.equal(['second', 'third']);
    const [first] = await fixture.storage.audit.list({ who, limit: 1, order: 'oldest' });
    expect(await listed({ order: 'oldest', after: first?.id ?? '' })).to.deep.equal(['second', 'third']);
    expect(await fixture.storage.audit.count({ who })).to.deep.equal({ count: 3, exact: true });
  });

  it('lists entries by the time at which they were recorded', async () => {
    const who = fixture.newQueue();
    await record({ who });
    const { at = new Date(NaN) } = (await newest()) ?? {};
    const next = new Date(at.getTime() + 1);
    const counted = async (span: Pick<AuditListQuery, 'from' | 'until'>): Promise<number> =>
      (await fixture.storage.audit.count({ who, ...span })).count;
    expect(await counted({ from: at, until: next })).to.equal(1);
    expect([await counted({ from: next }), await counted({ until: at })]).to.deep.equal([0, 0]);
  });

  it('stores any text, and cuts what is too long', async () => {
    await record({ who: `\0${'w'.repeat(300)}`, target: '"\\\'' });
    const kept = await newest();
    expect([kept?.who.length, kept?.target]).to.deep.equal([200, '"\\\'']);
  });

  it('lists entries by person, by action and by target', async () => {
    const [who, target] = [fixture.newQueue(), fixture.newQueue()];
    await record({ who, action: 'queues/pause', target });
    await record({ who, action: 'queues/resume', target });
    await record({ who, action: 'queues/pause', target: null });
    await record({ action: 'queues/pause', target });
    const found = async (query: Omit<AuditListQuery, 'limit'>): Promise<string[]> =>
      (await fixture.storage.audit.list({ limit: 10, ...query })).map(
        (each) => `${each.who === who ? 'one' : 'other'} ${each.action} ${each.target === target}`,
      );
    const paused = 'one queues/pause true';
    const resumed = 'one queues/resume true';
    expect(await found({ who })).to.deep.equal(['one queues/pause false', resumed, paused]);
    expect(await found({ target })).to.deep.equal(['other queues/pause true', resumed, paused]);
    expect(await found({ who, target, action: 'queues/pause' })).to.deep.equal([paused]);
  });
}
