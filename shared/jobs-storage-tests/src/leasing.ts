import { expect } from 'chai';
import { it } from 'mocha';
import type { Lease } from '@longshore/jobs/storage';
import { type Fixture, until } from './storage-under-test.js';

/** Defines the tests of finding a job's lease and of listing expired leases. */
export function leasing(fixture: Fixture): void {
  const stalledIn = async (queue: string, expiredForMs = 0): Promise<Lease[]> =>
    (await fixture.storage.leases.listStalled({ expiredForMs, limit: 100 })).filter(
      (lease) => lease.queue === queue,
    );
  const expired = (queue: string): Promise<Lease> =>
    until(async () => {
      const [lease] = await stalledIn(queue);
      return lease;
    });

  it('returns the holder of a running job, and when the lease expires', async () => {
    const { queue, claim } = await fixture.claimOne({}, 60_000);
    const lease = await fixture.storage.leases.find({ id: claim.jobId, queue });
    expect(lease).to.deep.include({ ...claim, locked: false });
    const started = (await fixture.storage.jobs.find(claim.jobId))?.startedAt?.getTime() ?? 0;
    expect(lease?.expiresAt.getTime()).to.be.closeTo(started + 60_000, 5_000);
  });

  it('returns the new expiry of a renewed lease', async () => {
    const { queue, claim } = await fixture.claimOne({}, 60_000);
    const before = await fixture.storage.leases.find({ id: claim.jobId, queue });
    await fixture.storage.claims.renew([claim], 120_000);
    const after = await fixture.storage.leases.find({ id: claim.jobId, queue });
    expect(after?.expiresAt.getTime()).to.be.greaterThan(before?.expiresAt.getTime() ?? Infinity);
  });

  it('returns no lease of a job that is not running or does not exist', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    expect(await fixture.storage.leases.find({ id, queue })).to.equal(null);
    expect(await fixture.storage.leases.find({ id, queue: fixture.newQueue() })).to.equal(null);
    expect(await fixture.storage.leases.find({ id: 'none', queue })).to.equal(null);
  });

  it('lists the expired lease of a live server until it is reclaimed', async () => {
    const { queue, claim } = await fixture.claimOne({}, 1);
    expect(await expired(queue)).to.deep.include(claim);
    await fixture.storage.maintenance.rescue();
    expect(await stalledIn(queue)).to.deep.equal([]);
  });

  it('lists no lease that is valid or has only just expired', async () => {
    const held = await fixture.claimOne({}, 60_000);
    expect(await stalledIn(held.queue)).to.deep.equal([]);
    const { queue } = await fixture.claimOne({}, 1);
    await expired(queue);
    expect(await stalledIn(queue, 60_000)).to.deep.equal([]);
  });

  it('lists no lease of a server that is gone', async () => {
    const { queue, claim } = await fixture.claimOne({}, 1);
    await expired(queue);
    await fixture.silence(claim.serverId);
    await fixture.storage.maintenance.rescue();
    expect(await stalledIn(queue)).to.deep.equal([]);
  });
}
