import { expect } from 'chai';
import { afterEach, beforeEach, it } from 'mocha';
import {
  defineJob,
  handleJob,
  JobClient,
  JobServer,
  silentLogger,
  StorageClosedError,
} from '@longshore/jobs';
import { patientServer } from '@longshore/test-support';
import type { Fixture, StorageUnderTest } from './storage-under-test.js';

const job = defineJob({ name: 'living', maxAttempts: 1 });

/** Defines the tests of what each call does in each state of a server: new, starting, running, quiet or stopped. */
export function livingServers(fixture: Fixture): void {
  const servers: JobServer[] = [];

  function newServer(): { server: JobServer; queue: string } {
    const queue = fixture.newQueue();
    const server = new JobServer({
      storage: fixture.storage,
      queues: [queue],
      handlers: [handleJob(job, () => null)],
      logger: silentLogger,
      ...patientServer,
    });
    servers.push(server);
    return { server, queue };
  }

  /** Returns whether the storage still lists a server for this queue. */
  const isRegistered = async (queue: string): Promise<boolean> =>
    (await fixture.storage.servers.list()).some(({ queues }) => queues.includes(queue));

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  it('registers once, however often it is started', async () => {
    const { server, queue } = newServer();
    await Promise.all([server.start(), server.start()]);
    await server.start();
    const listed = await fixture.storage.servers.list();
    expect(listed.filter(({ queues }) => queues.includes(queue))).to.have.lengthOf(1);
  });

  it('leaves no server behind when it is stopped while it starts', async () => {
    const { server, queue } = newServer();
    const started = server.start();
    await server.stop();
    await started;
    expect([server.id, await isRegistered(queue)]).to.deep.equal([null, false]);
  });

  it('leaves no server behind when it is started twice and stopped once', async () => {
    const { server, queue } = newServer();
    await Promise.all([server.start(), server.start()]);
    await server.stop();
    expect([server.id, await isRegistered(queue)]).to.deep.equal([null, false]);
    const { id } = await fixture.enqueue(queue, { name: job.name });
    expect((await fixture.storage.jobs.find(id))?.state).to.equal('enqueued');
  });

  it('can be stopped before it is started, and then not started any more', async () => {
    const { server, queue } = newServer();
    await server.stop();
    expect(server.ended.aborted).to.equal(true);
    const error: unknown = await server.start().catch((thrown: unknown) => thrown);
    expect(error).to.be.an('error').with.property('message').that.includes('create another JobServer');
    expect(await isRegistered(queue)).to.equal(false);
  });

  it('cannot be started again after it was stopped', async () => {
    const { server } = newServer();
    await server.start();
    await server.stop();
    const error: unknown = await server.start().catch((thrown: unknown) => thrown);
    expect(error).to.be.an('error').with.property('message').that.includes('create another JobServer');
  });

  it('stops once, however often it is asked to', async () => {
    const { server } = newServer();
    await server.start();
    await Promise.all([server.stop(), server.stop()]);
    await server.stop();
    expect(server.ended.aborted).to.equal(true);
  });

  it('starts quiet if it is made quiet before', async () => {
    const { server, queue } = newServer();
    await server.quiet();
    await server.start();
    await new JobClient(fixture.storage).enqueue(job, {}, { queue });
    const listed = await fixture.storage.servers.list();
    expect(listed.find(({ id }) => id === server.id)?.queues).to.deep.equal([queue]);
    await server.stop();
    const [waiting] = await fixture.jobsOf(queue);
    expect(waiting?.state).to.equal('enqueued');
  });

  it('stays stopped if it is made quiet afterwards', async () => {
    const { server, queue } = newServer();
    await server.start();
    await server.stop();
    await server.quiet();
    expect(await isRegistered(queue)).to.equal(false);
  });
}

/** Defines the tests of a storage that is closed: it can be closed again, but not used. */
export function closing(open: () => Promise<StorageUnderTest>): void {
  let subject: StorageUnderTest;

  beforeEach(async () => {
    subject = await open();
  });
  afterEach(() => subject.close());

  it('can be opened twice', async () => {
    await subject.storage.open();
    await subject.storage.ping();
  });

  it('can be closed twice, also at once', async () => {
    const { storage } = subject;
    await Promise.all([storage.close(), storage.close()]);
    await storage.close();
  });

  it('says that it is closed when it is used or opened afterwards', async () => {
    const { storage } = subject;
    await storage.close();
    const uses: readonly (() => Promise<unknown>)[] = [
      () => new JobClient(storage).enqueue(job, {}),
      () => storage.open(),
      () => new JobServer({ storage, handlers: [handleJob(job, () => null)], logger: silentLogger }).start(),
    ];
    for (const use of uses) {
      const thrown = await use().catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(StorageClosedError);
    }
  });
}
