import { expect } from 'chai';
import { it } from 'mocha';
import type { NewAuditEntry } from '../storage/audit-log.js';
import type { Bench } from './storage-under-test.js';

export function auditing(bench: Bench): void {
  const entry = (own: Partial<NewAuditEntry> = {}): NewAuditEntry => ({
    who: 'ada',
    action: 'jobs/retry',
    target: 'x',
    filter: null,
    count: 1,
    ...own,
  });
  const record = (own?: Partial<NewAuditEntry>) => bench.storage.audit.record(entry(own));
  const newest = async () => (await bench.storage.audit.list({ limit: 1 }))[0];

  it('keeps who did what to what', async () => {
    const told = entry({ target: null, filter: { state: ['failed'], queue: ['ä'] }, count: 12_345_678_901 });
    await record(told);
    const { id, at, ...kept } = (await newest()) ?? {};
    expect(kept).to.deep.equal(told);
    expect(id).to.be.a('string');
    expect(at).to.be.a('date');
  });

  it('lists the newest first, a page after the other', async () => {
    for (const target of ['first', 'second', 'third']) await record({ target });
    const [third, second] = await bench.storage.audit.list({ limit: 2 });
    expect([third?.target, second?.target]).to.deep.equal(['third', 'second']);
    const [first] = await bench.storage.audit.list({ limit: 1, after: second?.id ?? '' });
    expect(first?.target).to.equal('first');
  });

  it('keeps any text, and cuts what is too long', async () => {
    await record({ who: `\0${'w'.repeat(300)}`, target: '"\\\'' });
    const kept = await newest();
    expect([kept?.who.length, kept?.target]).to.deep.equal([200, '"\\\'']);
  });
}
