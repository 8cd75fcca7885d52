import { expect } from 'chai';
import { it } from 'mocha';
import { type Bench, newJob, until } from './storage-under-test.js';

export function rescuing(bench: Bench): void {
  it('releases the jobs of a dead server immediately, and records the lost attempt', async () => {
    const { claim } = await bench.claimOne();
    await bench.silence(claim.serverId);
    const report = await bench.storage.maintenance.rescue();
    expect(report.deadServers).to.include(claim.serverId);
    expect(await bench.storage.jobs.find(claim.jobId)).to.include({
      state: 'enqueued',
      attempt: 1,
      serverId: null,
    });
    const [lost] = await bench.storage.jobs.listAttempts(claim.jobId);
    expect(lost).to.include({ attempt: 1, outcome: 'lost', serverId: claim.serverId });
  });

  it('does not affect the jobs of a live server', async () => {
    const { claim } = await bench.claimOne();
    await bench.storage.maintenance.rescue();
    expect((await bench.storage.jobs.find(claim.jobId))?.serverId).to.equal(claim.serverId);
  });

  it('takes back an expired lease although its server is alive', async () => {
    const { claim } = await bench.claimOne({}, 1);
    await until(async () => ((await bench.storage.maintenance.rescue()).released > 0 ? true : undefined));
    expect((await bench.storage.jobs.find(claim.jobId))?.state).to.equal('enqueued');
    expect((await bench.storage.servers.list()).map(({ id }) => id)).to.include(claim.serverId);
  });

  it('fails a job whose last attempt was lost', async () => {
    const { claim } = await bench.claimOne({ maxAttempts: 1 });
    await bench.silence(claim.serverId);
    await bench.storage.maintenance.rescue();
    const job = await bench.storage.jobs.find(claim.jobId);
    expect(job?.state).to.equal('failed');
    expect(job?.error?.name).to.equal('AttemptLost');
  });

  it('counts attempts only for as many jobs as a dead server could run at once', async () => {
    const queue = bench.newQueue();
    await bench.storage.enqueuer.enqueue(Array.from({ length: 8 }, () => newJob(queue)));
    const { id } = await bench.register(queue); // with a concurrency of 5
    const claimed = await bench.claim(id, queue, 8);
    await bench.silence(id);
    await bench.storage.maintenance.rescue();
    const attempts = [];
    for (const { claim } of claimed)
      attempts.push((await bench.storage.jobs.listAttempts(claim.jobId)).length);
    expect(attempts).to.deep.equal([1, 1, 1, 1, 1, 0, 0, 0]);
    const counted = await bench.storage.jobs.find(claimed[7]?.claim.jobId ?? '');
    expect(counted).to.include({ state: 'enqueued', attempt: 0 });
  });

  it('reports to a server that it has been declared dead, at the latest when it claims', async () => {
    const queue = bench.newQueue();
    const registration = await bench.register(queue);
    await bench.silence(registration.id);
    await bench.storage.maintenance.rescue();
    expect((await bench.storage.servers.list()).map(({ id }) => id)).not.to.include(registration.id);
  });

  it('lists servers that were declared dead, latest first', async () => {
    const die = async (): Promise<string> => {
      const { id } = await bench.register(bench.newQueue());
      await bench.silence(id);
      await bench.storage.maintenance.rescue();
      return id;
    };
    const one = await die();
    const other = await die();
    const leaving = await bench.register(bench.newQueue());
    await leaving.unregister();
    const [latest, before] = await bench.storage.servers.listLost();
    expect(latest).to.include({ id: other, host: 'conformance', pid: process.pid, processing: 0 });
    expect(before?.id).to.equal(one);
    expect(latest?.lostAt.getTime()).to.be.greaterThan(latest?.heartbeatAt.getTime() ?? Infinity);
    expect((await bench.storage.servers.listLost()).map(({ id }) => id)).not.to.include(leaving.id);
  });

  it('releases the jobs of a server that unregisters', async () => {
    const queue = bench.newQueue();
    const registration = await bench.register(queue);
    const { id } = await bench.enqueue(queue);
    await bench.claim(registration.id, queue);
    await registration.unregister();
    expect((await bench.storage.jobs.find(id))?.state).to.equal('enqueued');
  });
}
