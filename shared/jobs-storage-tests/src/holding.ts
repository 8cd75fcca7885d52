import { expect } from 'chai';
import { it } from 'mocha';
import { type Bench, until } from './storage-under-test.js';

export function holding(bench: Bench): void {
  it('keeps a job with its server as long as the lease is renewed', async () => {
    const { claim } = await bench.claimOne({}, 1_000);
    expect(await bench.storage.claims.renew([claim], 60_000)).to.deep.equal([]);
    await bench.storage.maintenance.rescue();
    expect((await bench.storage.jobs.find(claim.jobId))?.serverId).to.equal(claim.serverId);
  });

  it('returns the claims that are no longer valid on renewal', async () => {
    const { claim } = await bench.claimOne();
    const stale = { ...claim, attempt: claim.attempt + 1 };
    expect(await bench.storage.claims.renew([claim, stale], 60_000)).to.deep.equal([stale]);
  });

  it('lets the next server claim a released job, without counting the attempt', async () => {
    const { queue, claim } = await bench.claimOne();
    expect(await bench.storage.claims.release([claim])).to.deep.equal([]);
    expect(await bench.storage.jobs.find(claim.jobId)).to.include({
      state: 'enqueued',
      attempt: 0,
      serverId: null,
    });
    const { id } = await bench.register(queue);
    const [again] = await until(async () => {
      const jobs = await bench.claim(id, queue);
      return jobs.length > 0 ? jobs : undefined;
    });
    expect(again?.claim).to.include({ jobId: claim.jobId, attempt: 1 });
  });

  it('lists exactly the claims that a server holds in a queue', async () => {
    const { queue, claim } = await bench.claimOne();
    await bench.enqueue(queue);
    const other = await bench.register(queue);
    const [foreign] = await until(async () => {
      const jobs = await bench.claim(other.id, queue);
      return jobs.length > 0 ? jobs : undefined;
    });
    expect(await bench.storage.claims.claimsOf(claim.serverId, queue)).to.deep.equal([claim]);
    expect(await bench.storage.claims.claimsOf(other.id, queue)).to.deep.equal([foreign?.claim]);
    expect(await bench.storage.claims.claimsOf(claim.serverId, bench.newQueue())).to.deep.equal([]);
  });

  it('does not release a job that another server holds', async () => {
    const { claim } = await bench.claimOne();
    const foreign = { ...claim, serverId: (await bench.register(claim.queue)).id };
    expect(await bench.storage.claims.release([foreign])).to.deep.equal([foreign]);
    expect((await bench.storage.jobs.find(claim.jobId))?.state).to.equal('processing');
  });
}
