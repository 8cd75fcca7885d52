import { eventually, patientServer } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import Type from 'typebox';
import {
  CancelJob,
  defineJob,
  handleJob,
  type Job,
  JobClient,
  type JobHandler,
  JobServer,
  type JobState,
  silentLogger,
  SnoozeJob,
} from '@longshore/jobs';
import { isFinished } from '@longshore/jobs/storage';
import { whileServing } from './serving-queue.js';
import { pauseBriefly } from './pause-briefly.js';
import type { Fixture } from './storage-under-test.js';

export function serving(fixture: Fixture): void {
  const withServer = (
    queue: string,
    handlers: JobHandler[],
    work: (server: JobServer) => Promise<void>,
  ): Promise<void> => whileServing(fixture, queue, handlers, work, { concurrency: 4 });

  async function jobIn(id: string, condition: (job: Job) => boolean): Promise<Job> {
    const found = await eventually(
      () => fixture.storage.jobs.find(id),
      (job) => job !== null && condition(job),
    );
    return found ?? expect.fail('The job is gone');
  }

  const inState =
    (state: JobState) =>
    (job: Job): boolean =>
      job.state === state;

  it('runs a job and stores the result of its handler', async () => {
    const queue = fixture.newQueue();
    const add = defineJob({ name: 'add', args: Type.Object({ a: Type.Number(), b: Type.Number() }), queue });
    await withServer(queue, [handleJob(add, ({ args }) => ({ sum: args.a + args.b }))], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(add, { a: 2, b: 3 });
      expect((await jobIn(id, ({ state }) => isFinished(state))).result).to.deep.equal({ sum: 5 });
    });
  });

  it('retries a job that throws until it is done', async () => {
    const queue = fixture.newQueue();
    const flaky = defineJob({ name: 'flaky', queue, retryDelay: () => 1 });
    const handler = handleJob(flaky, ({ job }) => {
      if (job.attempt === 1) throw new RangeError('not yet');
      return job.attempt;
    });
    await withServer(queue, [handler], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(flaky, {});
      expect(await jobIn(id, inState('done'))).to.include({ result: 2, attempt: 2 });
    });
  });

  it('fails a job that throws in its last attempt, with the error', async () => {
    const queue = fixture.newQueue();
    const broken = defineJob({ name: 'broken', queue, maxAttempts: 1 });
    const handler = handleJob(broken, () => {
      throw new RangeError('never');
    });
    await withServer(queue, [handler], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(broken, {});
      expect((await jobIn(id, inState('failed'))).error).to.include({ name: 'RangeError', message: 'never' });
    });
  });

  it('checks arguments when an attempt starts, and fails a job whose arguments do not match, without a retry', async () => {
    const queue = fixture.newQueue();
    const args = {
      type: 'object',
      properties: { to: { type: 'string' } },
      required: ['to'],
      additionalProperties: false,
    } as const;
    const ship = defineJob({ name: 'ship', queue, args });
    const earlier = defineJob({ name: 'ship', queue });
    const received: unknown[] = [];
    const handler = handleJob(ship, (context) => {
      received.push(context.args);
    });
    await withServer(queue, [handler], async () => {
      const client = new JobClient(fixture.storage);
      const [good, bad] = await client.enqueueMany([
        { definition: earlier, args: { to: 'Delft' } },
        { definition: earlier, args: { to: 7 } },
      ]);
      await jobIn(good.id, inState('done'));
      const { attempt, error } = await jobIn(bad.id, inState('failed'));
      expect([attempt, error?.name]).to.deep.equal([1, 'InvalidArgumentsError']);
      expect(error?.message).to.match(/definition of "ship".*args\.to must be string.*has changed/);
    });
    expect(received).to.deep.equal([{ to: 'Delft' }]);
  });

  it('fails an attempt whose result cannot be stored, and names the part', async () => {
    const queue = fixture.newQueue();
    const odd = defineJob({ name: 'odd', queue, maxAttempts: 1 });
    await withServer(queue, [handleJob(odd, () => ({ when: new Date() }))], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(odd, {});
      expect((await jobIn(id, inState('failed'))).error?.message).to.contain('result.when is a Date');
    });
  });

  it('runs each of many jobs once', async () => {
    const queue = fixture.newQueue();
    const tick = defineJob({ name: 'tick', queue });
    const runs = new Map<string, number>();
    const handler = handleJob(tick, ({ job }) => {
      runs.set(job.id, (runs.get(job.id) ?? 0) + 1);
    });
    const client = new JobClient(fixture.storage);
    await withServer(queue, [handler], async () => {
      await client.enqueueMany(Array.from({ length: 500 }, () => ({ definition: tick, args: {} })));
      await eventually(
        () => fixture.storage.jobs.count({ queue: [queue], state: ['done'] }),
        ({ count }) => count === 500,
      );
    });
    expect([...runs.values()].filter((times) => times === 1)).to.have.length(500);
  });

  it('releases jobs that do not end before it stops, without counting the attempt', async () => {
    const queue = fixture.newQueue();
    const endless = defineJob({ name: 'endless', queue });
    const handler = handleJob(endless, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    let id = '';
    await withServer(queue, [handler], async () => {
      ({ id } = await new JobClient(fixture.storage).enqueue(endless, {}));
      await jobIn(id, inState('processing'));
    });
    expect(await fixture.storage.jobs.find(id)).to.include({ state: 'enqueued', attempt: 0, serverId: null });
  });

  it('releases jobs fetched ahead when slow jobs follow fast ones', async () => {
    const queue = fixture.newQueue();
    const quick = defineJob({ name: 'quick', queue });
    const slow = defineJob({ name: 'slow', queue });
    const client = new JobClient(fixture.storage);
    const handlers = [
      handleJob(quick, () => undefined),
      handleJob(slow, async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }),
    ];
    await client.enqueueMany(Array.from({ length: 3_000 }, () => ({ definition: quick, args: {} })));
    await client.enqueueMany(Array.from({ length: 100 }, () => ({ definition: slow, args: {} })));
    await withServer(queue, handlers, async () => {
      const countOf = async (name: string, state: JobState): Promise<number> =>
        (await fixture.storage.jobs.count({ queue: [queue], name: [name], state: [state] })).count;
      await eventually(
        async () => ({
          left: await countOf('quick', 'enqueued'),
          running: await countOf('slow', 'processing'),
          waiting: await countOf('slow', 'enqueued'),
        }),
        ({ left, running, waiting }) => left === 0 && running === 4 && waiting === 96,
      );
      const filter = { queue: [queue], state: ['enqueued'] } as const;
      const given = await fixture.storage.jobs.list({ filter, limit: 100 });
      expect(given.map(({ attempt }) => attempt)).to.deep.equal(Array.from({ length: 96 }, () => 0));
    });
  });

  it('lets a running job finish when it stops', async () => {
    const queue = fixture.newQueue();
    const slow = defineJob({ name: 'slow', queue });
    let finish: ((result: string) => void) | undefined;
    const handler = handleJob(slow, async () => new Promise<string>((resolve) => (finish = resolve)));
    const server = new JobServer({
      storage: fixture.storage,
      handlers: [handler],
      queues: [queue],
      logger: silentLogger,
      ...patientServer,
    });
    await server.start();
    const { id } = await new JobClient(fixture.storage).enqueue(slow, {});
    const finishJob = await eventually(() => finish);
    const stopped = server.stop();
    finishJob('finished');
    await stopped;
    expect(await fixture.storage.jobs.find(id)).to.include({ state: 'done', result: 'finished' });
  });

  it('aborts the signal of a running job that is cancelled, and cancels the job', async () => {
    const queue = fixture.newQueue();
    const patient = defineJob({ name: 'patient', queue });
    const handler = handleJob(patient, async ({ signal }) => {
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    });
    await withServer(queue, [handler], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(patient, {});
      await jobIn(id, inState('processing'));
      expect(await fixture.storage.control.cancel(id)).to.include({ outcome: 'ok', changed: true });
      expect((await jobIn(id, inState('cancelled'))).error?.name).to.equal('JobCancelledError');
    });
  });

  it('cancels a job whose handler throws CancelJob, regardless of the attempts left', async () => {
    const queue = fixture.newQueue();
    const moot = defineJob({ name: 'moot', queue });
    const handler = handleJob(moot, () => {
      throw new CancelJob('the order is gone');
    });
    await withServer(queue, [handler], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(moot, {});
      expect((await jobIn(id, inState('cancelled'))).error?.message).to.equal('the order is gone');
    });
  });

  it('runs a snoozed job again, as the same attempt', async () => {
    const queue = fixture.newQueue();
    const sleepy = defineJob({ name: 'sleepy', queue, maxAttempts: 1 });
    let runs = 0;
    const handler = handleJob(sleepy, ({ job }) => {
      runs++;
      if (runs < 3) throw new SnoozeJob(1);
      return job.attempt;
    });
    await withServer(queue, [handler], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(sleepy, {});
      expect(await jobIn(id, inState('done'))).to.include({ result: 1, attempt: 1 });
    });
  });

  it('claims no jobs from a paused queue until it is resumed', async () => {
    const queue = fixture.newQueue();
    const waiting = defineJob({ name: 'waiting', queue });
    await fixture.storage.queues.pause(queue);
    await withServer(queue, [handleJob(waiting, () => 'ran')], async (server) => {
      const { id } = await new JobClient(fixture.storage).enqueue(waiting, {});
      expect(await fixture.claim(server.id ?? '', queue)).to.deep.equal([]);
      await fixture.storage.queues.resume(queue);
      expect((await jobIn(id, inState('done'))).result).to.equal('ran');
    });
  });

  it('runs the jobs of a paused type when its pause ends, and records that it has ended', async () => {
    const queue = fixture.newQueue();
    const paused = defineJob({ name: 'serving.paused', queue });
    const other = defineJob({ name: 'serving.other', queue });
    const client = new JobClient(fixture.storage);
    await withServer(queue, [handleJob(paused, () => 'ran'), handleJob(other, () => 'ran')], async () => {
      await fixture.storage.jobTypes.pause(paused.name);
      const { id } = await client.enqueue(paused, {});
      // The other job was enqueued later, so once it is done, a claim has skipped the paused job.
      await jobIn((await client.enqueue(other, {})).id, inState('done'));
      const end = await pauseBriefly(fixture, (until) =>
        fixture.storage.jobTypes.pause(paused.name, { until }),
      );
      const job = await jobIn(id, inState('done'));
      expect(job.startedAt).to.be.at.least(end);
      // Claims ignore an expired pause. The chore that records the resumption may run later.
      const [entry] = await eventually(
        () => fixture.storage.audit.list({ limit: 1, target: paused.name }),
        (entries) => entries.length > 0,
      );
      expect(entry).to.include({ who: 'Longshore', action: 'types/resume' });
    });
  });

  it('is not listed after it stopped', async () => {
    const queue = fixture.newQueue();
    let id: string | null = null;
    await withServer(queue, [], async (server) => {
      id = server.id;
      expect((await fixture.storage.servers.list()).map((entry) => entry.id)).to.include(id);
    });
    expect((await fixture.storage.servers.list()).map((entry) => entry.id)).not.to.include(id);
  });
}
