import { expect } from 'chai';
import { it } from 'mocha';
import type { Orphan } from '@longshore/jobs/storage';
import { type Fixture, hourMs, yearMs } from './storage-under-test.js';

/** Defines the tests of listing orphans, which are jobs that no registered server can run. */
export function orphaning(fixture: Fixture): void {
  const orphansOf = async (queue: string): Promise<Orphan[]> =>
    (await fixture.storage.jobs.listOrphans()).filter((orphan) => orphan.queue === queue);

  const serve = async (queue: string, jobNames?: string[]): Promise<() => Promise<void>> => {
    const server = await fixture.storage.servers.register({
      host: 'conformance',
      pid: 1,
      concurrency: 1,
      timeoutMs: hourMs,
      queues: [queue],
      ...(jobNames !== undefined && { jobNames }),
    });
    return () => server.unregister();
  };

  it('lists the jobs of a queue without consumers', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue, { name: 'one' });
    expect(await orphansOf(queue)).to.deep.equal([{ queue, name: 'one', jobs: 1, reason: 'no-server' }]);
  });

  it('lists jobs for which no consumer has a handler, including scheduled ones', async () => {
    const queue = fixture.newQueue();
    const leave = await serve(queue, ['known']);
    await fixture.enqueue(queue, { name: 'known' });
    await fixture.enqueue(queue, { name: 'unknown' });
    await fixture.enqueue(queue, { name: 'unknown', due: { inMs: yearMs } });
    expect(await orphansOf(queue)).to.deep.equal([{ queue, name: 'unknown', jobs: 2, reason: 'no-handler' }]);
    await leave();
  });

  it('lists none of a queue with a server that registered no handlers', async () => {
    const queue = fixture.newQueue();
    const leave = await serve(queue);
    await fixture.enqueue(queue, { name: 'anything' });
    expect(await orphansOf(queue)).to.deep.equal([]);
    await leave();
  });

  it('lists no running job', async () => {
    const { queue } = await fixture.claimOne({ name: 'running' });
    expect(await orphansOf(queue)).to.deep.equal([]);
  });

  it('lists the handlers of a server', async () => {
    const queue = fixture.newQueue();
    const leave = await serve(queue, ['one', 'two']);
    const servers = await fixture.storage.servers.list();
    expect(servers.find(({ queues }) => queues.includes(queue))?.jobNames).to.deep.equal(['one', 'two']);
    await leave();
  });
}
