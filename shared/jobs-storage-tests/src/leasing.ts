import { expect } from 'chai';
import { it } from 'mocha';
import type { Lease } from '@longshore/jobs/storage';
import { type Bench, until } from './storage-under-test.js';

/** Reading leases. */
export function leasing(bench: Bench): void {
  const stalledIn = async (queue: string, expiredForMs = 0): Promise<Lease[]> =>
    (await bench.storage.leases.listStalled({ expiredForMs, limit: 100 })).filter(
      (lease) => lease.queue === queue,
    );
  const expired = (queue: string): Promise<Lease> =>
    until(async () => {
      const [lease] = await stalledIn(queue);
      return lease;
    });

  it('returns the holder of a running job, and when the lease expires', async () => {
    const { queue, claim } = await bench.claimOne({}, 60_000);
    const lease = await bench.storage.leases.find({ id: claim.jobId, queue });
    expect(lease).to.deep.include({ ...claim, locked: false });
    const started = (await bench.storage.jobs.find(claim.jobId))?.startedAt?.getTime() ?? 0;
    expect(lease?.expiresAt.getTime()).to.be.closeTo(started + 60_000, 5_000);
  });

  it('returns the new expiry of a renewed lease', async () => {
    const { queue, claim } = await bench.claimOne({}, 60_000);
    const before = await bench.storage.leases.find({ id: claim.jobId, queue });
    await bench.storage.claims.renew([claim], 120_000);
    const after = await bench.storage.leases.find({ id: claim.jobId, queue });
    expect(after?.expiresAt.getTime()).to.be.greaterThan(before?.expiresAt.getTime() ?? Infinity);
  });

  it('returns no lease of a job that is not running or does not exist', async () => {
    const queue = bench.newQueue();
    const { id } = await bench.enqueue(queue);
    expect(await bench.storage.leases.find({ id, queue })).to.equal(null);
    expect(await bench.storage.leases.find({ id, queue: bench.newQueue() })).to.equal(null);
    expect(await bench.storage.leases.find({ id: 'none', queue })).to.equal(null);
  });

  it('lists the expired lease of a live server until it is taken back', async () => {
    const { queue, claim } = await bench.claimOne({}, 1);
    expect(await expired(queue)).to.deep.include(claim);
    await bench.storage.maintenance.rescue();
    expect(await stalledIn(queue)).to.deep.equal([]);
  });

  it('lists no lease that is valid or has only just expired', async () => {
    const held = await bench.claimOne({}, 60_000);
    expect(await stalledIn(held.queue)).to.deep.equal([]);
    const { queue } = await bench.claimOne({}, 1);
    await expired(queue);
    expect(await stalledIn(queue, 60_000)).to.deep.equal([]);
  });

  it('lists no lease of a server that is gone', async () => {
    const { queue, claim } = await bench.claimOne({}, 1);
    await expired(queue);
    await bench.silence(claim.serverId);
    await bench.storage.maintenance.rescue();
    expect(await stalledIn(queue)).to.deep.equal([]);
  });
}
