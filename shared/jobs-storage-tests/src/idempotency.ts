import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { defineJob, IdempotencyConflictError, JobClient, type JobDefinition } from '@longshore/jobs';
import { EnqueuedJobDetails } from '@longshore/jobs/storage';
import { type Fixture, moveJob } from './storage-under-test.js';

/** Defines the tests of idempotency keys: repeating a request with the same key returns the same job. */
export function identifying(fixture: Fixture): void {
  const definition = (): JobDefinition => defineJob({ name: 'once', queue: fixture.newQueue() });
  const options = { idempotencyKey: 'request 7' };

  const move = (id: string, queue: string): Promise<unknown> => moveJob(fixture.storage, id, queue);

  it('returns the same job for the same idempotency key, whatever its state', async () => {
    const client = new JobClient(fixture.storage);
    const job = definition();
    const first = await client.enqueue(job, { a: 1, b: 2 }, options);
    await fixture.storage.control.cancel(first.id);
    const second = await client.enqueue(job, { b: 2, a: 1 }, options);
    expect(first.created).to.equal(true);
    expect(second).to.deep.equal({ ...first, created: false });
  });

  it('shows the idempotency key of a job', async () => {
    const { id } = await new JobClient(fixture.storage).enqueue(definition(), {}, options);
    expect((await fixture.storage.jobs.find(id))?.idempotencyKey).to.equal('request 7');
  });

  it('separates idempotency keys of different queues', async () => {
    const client = new JobClient(fixture.storage);
    await client.enqueue(definition(), {}, options);
    expect((await client.enqueue(definition(), {}, options)).created).to.equal(true);
  });

  it('rejects an idempotency key that was used with other arguments', async () => {
    const client = new JobClient(fixture.storage);
    const job = definition();
    const { id } = await client.enqueue(job, { n: 1 }, options);
    const problem = await client.enqueue(job, { n: 2 }, options).catch((error: unknown) => error);
    expect(problem)
      .to.be.instanceOf(IdempotencyConflictError)
      .and.include({ idempotencyKey: 'request 7', jobId: id });
    expect(await fixture.jobsOf(job.queue)).to.have.length(1);
  });

  it('rejects an idempotency key that was used with another name', async () => {
    const client = new JobClient(fixture.storage);
    const job = definition();
    await client.enqueue(job, {}, options);
    const other = defineJob({ name: 'other', queue: job.queue });
    const problem = await client.enqueue(other, {}, options).catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(IdempotencyConflictError);
  });

  it('forgets an idempotency key after the client’s period', async () => {
    const client = new JobClient(fixture.storage, { idempotencyPeriodMs: 1 });
    const job = definition();
    const first = await client.enqueue(job, {}, options);
    const second = await eventually(
      () => client.enqueue(job, {}, options),
      ({ created }) => created,
    );
    expect(second.id).not.to.equal(first.id);
  });

  const shown = { ...options, includeHolder: true };

  it('returns the current state of the key’s holder if requested', async () => {
    const client = new JobClient(fixture.storage);
    const job = definition();
    const first = await client.enqueue(job, { n: 1 }, options);
    await fixture.storage.control.cancel(first.id);
    const again = await client.enqueue(job, { n: 1 }, shown);
    expect(again).to.be.instanceOf(EnqueuedJobDetails);
    expect((again as EnqueuedJobDetails).asStored()).to.deep.equal(await fixture.storage.jobs.find(first.id));
  });

  it('returns a holder that was moved to another queue', async () => {
    const client = new JobClient(fixture.storage);
    const job = definition();
    const { id } = await client.enqueue(job, {}, options);
    await move(id, fixture.newQueue());
    const again = (await client.enqueue(job, {}, shown)) as EnqueuedJobDetails;
    expect(again.asStored()).to.include({ id });
  });

  it('enqueues nothing if a holder that must be shown has been deleted', async () => {
    const client = new JobClient(fixture.storage);
    const job = definition();
    const { id } = await client.enqueue(job, {}, options);
    await fixture.storage.control.cancel(id);
    await fixture.storage.control.delete(id);
    const orders = [{}, shown, {}].map((each) => ({ definition: job, args: {}, options: each }));
    const refusal = await client.enqueueMany(orders).catch((error: unknown) => error);
    expect(refusal).to.have.property('name', 'KeyHolderHiddenError');
    expect(await fixture.jobsOf(job.queue)).to.deep.equal([]);
    expect(await client.enqueue(job, {}, options)).to.include({ id, created: false });
  });

  it('enqueues nothing if a holder that must be shown is not visible', async () => {
    const client = new JobClient(fixture.storage);
    const job = definition();
    const { id } = await client.enqueue(job, {}, options);
    await move(id, fixture.newQueue());
    const visibleQueues = [job.queue];
    const orders = [{}, { ...shown, visibleQueues }].map((each) => ({
      definition: job,
      args: {},
      options: each,
    }));
    const refusal = await client.enqueueMany(orders).catch((error: unknown) => error);
    expect(refusal).to.have.property('name', 'KeyHolderHiddenError');
    expect(String(refusal)).not.to.contain(id);
    expect(await fixture.jobsOf(job.queue)).to.deep.equal([]);
  });

  it('returns the same unique key’s holder to a repeated request', async () => {
    const client = new JobClient(fixture.storage);
    const job = definition();
    const holder = await client.enqueue(job, {}, { unique: { key: 'a' } });
    const first = await client.enqueue(job, {}, { ...options, unique: { key: 'a' } });
    await fixture.storage.control.cancel(holder.id);
    const second = await client.enqueue(job, {}, { ...options, unique: { key: 'a' } });
    expect([first.id, second.id]).to.deep.equal([holder.id, holder.id]);
  });

  it('creates one job for 50 concurrent callers with one idempotency key', async () => {
    const client = new JobClient(fixture.storage);
    const job = definition();
    const enqueued = await Promise.all(Array.from({ length: 50 }, () => client.enqueue(job, {}, options)));
    expect(enqueued.filter(({ created }) => created)).to.have.length(1);
    expect(await fixture.jobsOf(job.queue)).to.have.length(1);
  });
}
