import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import type { Lease } from '@longshore/jobs/storage';
import { type Fixture, hourMs } from './storage-under-test.js';

/** Defines the tests of finding a job's lease and of listing expired leases. */
export function leasing(fixture: Fixture): void {
  const stalledIn = async (queue: string, expiredForMs = 0): Promise<Lease[]> =>
    (await fixture.storage.leases.listStalled({ expiredForMs, limit: 100 })).filter(
      (lease) => lease.queue === queue,
    );
  const expired = (queue: string): Promise<Lease> => eventually(async () => (await stalledIn(queue))[0]);

  it('returns the holder of a running job, and when the lease expires', async () => {
    const before = await fixture.storage.readClock();
    const { queue, claim } = await fixture.claimOne({}, hourMs);
    const lease = await fixture.storage.leases.find({ id: claim.jobId, queue });
    expect(lease).to.deep.include({ ...claim, locked: false });
    const after = await fixture.storage.readClock();
    expect(lease?.expiresAt.getTime()).to.be.within(before.getTime() + hourMs, after.getTime() + hourMs);
  });

  it('returns the new expiry of a renewed lease', async () => {
    const { queue, claim } = await fixture.claimOne({}, hourMs);
    const before = await fixture.storage.leases.find({ id: claim.jobId, queue });
    await fixture.storage.claims.renew([claim], 2 * hourMs);
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
    const held = await fixture.claimOne({}, hourMs);
    expect(await stalledIn(held.queue)).to.deep.equal([]);
    const { queue } = await fixture.claimOne({}, 1);
    await expired(queue);
    expect(await stalledIn(queue, hourMs)).to.deep.equal([]);
  });

  it('lists no lease of a server that is gone', async () => {
    const { queue, claim } = await fixture.claimOne({}, 1);
    await expired(queue);
    await fixture.silence(claim.serverId);
    await fixture.storage.maintenance.rescue();
    expect(await stalledIn(queue)).to.deep.equal([]);
  });
}
