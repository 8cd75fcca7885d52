import { expect } from 'chai';
import { it } from 'mocha';
import { type Fixture, hourMs } from './storage-under-test.js';

export function holding(fixture: Fixture): void {
  it('keeps a job with its server as long as the lease is renewed', async () => {
    const { queue, claim } = await fixture.claimOne({}, 1);
    const lease = await fixture.storage.leases.find({ id: claim.jobId, queue });
    expect(await fixture.storage.claims.renew([claim], hourMs)).to.deep.equal([]);
    await fixture.untilAfter(lease?.expiresAt);
    await fixture.storage.maintenance.rescue();
    expect((await fixture.storage.jobs.find(claim.jobId))?.serverId).to.equal(claim.serverId);
  });

  it('returns the claims that are no longer valid on renewal', async () => {
    const { claim } = await fixture.claimOne();
    const stale = { ...claim, attempt: claim.attempt + 1 };
    expect(await fixture.storage.claims.renew([claim, stale], hourMs)).to.deep.equal([stale]);
  });

  it('lets the next server claim a released job, without counting the attempt', async () => {
    const { queue, claim } = await fixture.claimOne();
    expect(await fixture.storage.claims.release([claim])).to.deep.equal([]);
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({
      state: 'enqueued',
      attempt: 0,
      serverId: null,
    });
    const { id } = await fixture.register(queue);
    const [again] = await fixture.claimSome(id, queue);
    expect(again.claim).to.include({ jobId: claim.jobId, attempt: 1 });
  });

  it('lists exactly the claims that a server holds in a queue', async () => {
    const { queue, claim } = await fixture.claimOne();
    await fixture.enqueue(queue);
    const other = await fixture.register(queue);
    const [foreign] = await fixture.claimSome(other.id, queue);
    expect(await fixture.storage.claims.claimsOf(claim.serverId, queue)).to.deep.equal([claim]);
    expect(await fixture.storage.claims.claimsOf(other.id, queue)).to.deep.equal([foreign.claim]);
    expect(await fixture.storage.claims.claimsOf(claim.serverId, fixture.newQueue())).to.deep.equal([]);
  });

  it('does not release a job that another server holds', async () => {
    const { claim } = await fixture.claimOne();
    const foreign = { ...claim, serverId: (await fixture.register(claim.queue)).id };
    expect(await fixture.storage.claims.release([foreign])).to.deep.equal([foreign]);
    expect((await fixture.storage.jobs.find(claim.jobId))?.state).to.equal('processing');
  });
}
