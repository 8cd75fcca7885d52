import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { type Fixture, newJob } from './storage-under-test.js';

export function rescuing(fixture: Fixture): void {
  it('releases the jobs of a dead server immediately, and records the lost attempt', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.silence(claim.serverId);
    const report = await fixture.storage.maintenance.rescue();
    expect(report.deadServers).to.include(claim.serverId);
    expect(await fixture.storage.jobs.find(claim.jobId)).to.include({
      state: 'enqueued',
      attempt: 1,
      serverId: null,
    });
    const [lost] = await fixture.storage.jobs.listAttempts(claim.jobId);
    expect(lost).to.include({ attempt: 1, outcome: 'lost', serverId: claim.serverId });
  });

  it('does not affect the jobs of a live server', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.maintenance.rescue();
    expect((await fixture.storage.jobs.find(claim.jobId))?.serverId).to.equal(claim.serverId);
  });

  it('takes back an expired lease although its server is alive', async () => {
    const { claim } = await fixture.claimOne({}, 1);
    await eventually(
      async () => {
        await fixture.storage.maintenance.rescue();
        return (await fixture.storage.jobs.find(claim.jobId))?.state;
      },
      (state) => state === 'enqueued',
    );
    expect((await fixture.storage.servers.list()).map(({ id }) => id)).to.include(claim.serverId);
  });

  it('fails a job whose last attempt was lost', async () => {
    const { claim } = await fixture.claimOne({ maxAttempts: 1 });
    await fixture.silence(claim.serverId);
    await fixture.storage.maintenance.rescue();
    const job = await fixture.storage.jobs.find(claim.jobId);
    expect(job?.state).to.equal('failed');
    expect(job?.error?.name).to.equal('AttemptLost');
  });

  it('cancels a lost job if that was requested, and reports it neither as released nor as failed', async () => {
    const { claim } = await fixture.claimOne();
    await fixture.storage.control.cancel(claim.jobId);
    await fixture.silence(claim.serverId);
    expect(await fixture.storage.maintenance.rescue()).to.include({ released: 0, failed: 0 });
    expect((await fixture.storage.jobs.find(claim.jobId))?.state).to.equal('cancelled');
  });

  it('counts attempts only for as many jobs as a dead server could run at once', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(Array.from({ length: 8 }, () => newJob(queue)));
    const { id } = await fixture.register(queue); // with a concurrency of 5
    const claimed = await fixture.claim(id, queue, 8);
    await fixture.silence(id);
    await fixture.storage.maintenance.rescue();
    const attempts = [];
    for (const { claim } of claimed)
      attempts.push((await fixture.storage.jobs.listAttempts(claim.jobId)).length);
    expect(attempts).to.deep.equal([1, 1, 1, 1, 1, 0, 0, 0]);
    const counted = await fixture.storage.jobs.find(claimed[7]?.claim.jobId ?? '');
    expect(counted).to.include({ state: 'enqueued', attempt: 0 });
  });

  it('reports to a server that it has been declared dead, at the latest when it claims', async () => {
    const queue = fixture.newQueue();
    const registration = await fixture.register(queue);
    await fixture.silence(registration.id);
    await fixture.storage.maintenance.rescue();
    expect((await fixture.storage.servers.list()).map(({ id }) => id)).not.to.include(registration.id);
  });

  it('lists servers that were declared dead, latest first', async () => {
    const die = async (): Promise<string> => {
      const { id } = await fixture.register(fixture.newQueue());
      await fixture.silence(id);
      await fixture.storage.maintenance.rescue();
      return id;
    };
    const one = await die();
    const other = await die();
    const leaving = await fixture.register(fixture.newQueue());
    await leaving.unregister();
    const [latest, before] = await fixture.storage.servers.listLost();
    expect(latest).to.include({ id: other, host: 'conformance', pid: process.pid, processing: 0 });
    expect(before?.id).to.equal(one);
    expect(latest?.lostAt.getTime()).to.be.greaterThan(latest?.heartbeatAt.getTime() ?? Infinity);
    expect((await fixture.storage.servers.listLost()).map(({ id }) => id)).not.to.include(leaving.id);
  });

  it('counts the jobs that a dead server was running, including those that it started after its last heartbeat', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(Array.from({ length: 8 }, () => newJob(queue)));
    await fixture.storage.enqueuer.enqueue([{ ...newJob(queue), maxAttempts: 1 }]);
    const { id } = await fixture.register(queue); // with a concurrency of 5
    await fixture.claim(id, queue, 9);
    await fixture.silence(id);
    await fixture.storage.maintenance.rescue();
    const lost = (await fixture.storage.servers.listLost()).find((server) => server.id === id);
    // Five of the jobs with attempts left are counted, because the server has a concurrency of five. The job on its
    // last attempt is also counted, because it may have been running.
    expect(lost?.processing).to.equal(6);
  });

  it('counts an attempt for each job that a server still holds when it unregisters', async () => {
    const queue = fixture.newQueue();
    await fixture.storage.enqueuer.enqueue(Array.from({ length: 8 }, () => newJob(queue)));
    const registration = await fixture.register(queue); // with a concurrency of 5
    const claimed = await fixture.claim(registration.id, queue, 8);
    await registration.unregister();
    const attempts = await Promise.all(
      claimed.map(async ({ claim }) => (await fixture.storage.jobs.find(claim.jobId))?.attempt),
    );
    expect(attempts).to.deep.equal(Array.from({ length: 8 }, () => 1));
  });

  it('releases the jobs of a server that unregisters', async () => {
    const queue = fixture.newQueue();
    const registration = await fixture.register(queue);
    const { id } = await fixture.enqueue(queue);
    await fixture.claim(registration.id, queue);
    await registration.unregister();
    expect((await fixture.storage.jobs.find(id))?.state).to.equal('enqueued');
  });
}
