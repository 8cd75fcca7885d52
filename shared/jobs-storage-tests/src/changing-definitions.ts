import { expect } from 'chai';
import { it } from 'mocha';
import Type from 'typebox';
import { defineJob, defineRecurringJob, handleJob, JobClient, SnoozeJob } from '@longshore/jobs';
import { jobInState, whileServing } from './serving-queue.js';
import type { Fixture } from './storage-under-test.js';

/** What two versions of an application make of one another's jobs. */
export function changingDefinitions(fixture: Fixture): void {
  const older = (queue: string) =>
    defineJob({ name: 'ship', queue, args: Type.Object({ address: Type.String() }) });
  const newer = (queue: string) =>
    defineJob({
      name: 'ship',
      queue,
      version: 2,
      args: Type.Object({ street: Type.String(), city: Type.String() }),
      upgrade: ({ address }: { address: string }) => {
        const [street = '', city = ''] = address.split(', ');
        return { street, city };
      },
    });

  it('upgrades the arguments of earlier versions for the handler, and keeps those that are stored', async () => {
    const queue = fixture.newQueue();
    const client = new JobClient(fixture.storage);
    const old = await client.enqueue(older(queue), { address: 'Markt 1, Delft' });
    const current = await client.enqueue(newer(queue), { street: 'Oude Delft 2', city: 'Delft' });
    const received: unknown[] = [];
    const handler = handleJob(newer(queue), ({ args }) => void received.push(args.street));
    await whileServing(fixture, queue, [handler], async () => {
      const jobs = [await jobInState(fixture, old.id, 'done'), await jobInState(fixture, current.id, 'done')];
      expect(jobs.map(({ args, version }) => ({ args, version }))).to.deep.equal([
        { args: { address: 'Markt 1, Delft' }, version: 1 },
        { args: { street: 'Oude Delft 2', city: 'Delft' }, version: 2 },
      ]);
    });
    expect(received).to.have.members(['Markt 1', 'Oude Delft 2']);
  });

  it('leaves a job of a newer version to a server that has it, without counting an attempt', async () => {
    const queue = fixture.newQueue();
    const { id } = await new JobClient(fixture.storage).enqueue(
      newer(queue),
      { street: 'Markt 1', city: 'Delft' },
      { maxAttempts: 1 },
    );
    const received: unknown[] = [];
    await whileServing(
      fixture,
      queue,
      [handleJob(older(queue), ({ args }) => void received.push(args))],
      async () => {
        const { attempt, error } = await jobInState(fixture, id, 'scheduled');
        expect([attempt, error]).to.deep.equal([0, null]);
      },
    );
    await fixture.storage.control.run(id);
    const handler = handleJob(newer(queue), ({ args }) => void received.push(args.city));
    await whileServing(fixture, queue, [handler], () => jobInState(fixture, id, 'done'));
    expect(received).to.deep.equal(['Delft']);
  });

  it('fails a job once and for good if its upgraded arguments do not match', async () => {
    const queue = fixture.newQueue();
    const { id } = await new JobClient(fixture.storage).enqueue(older(queue), { address: 'Delft' });
    const strict = defineJob({
      name: 'ship',
      queue,
      version: 2,
      args: Type.Object({ city: Type.String({ minLength: 1 }) }),
      upgrade: ({ address }: { address: string }) => ({ city: address.split(', ')[1] ?? '' }),
    });
    await whileServing(fixture, queue, [handleJob(strict, () => 'unreachable')], async () => {
      const { attempt, error } = await jobInState(fixture, id, 'failed');
      expect([attempt, error?.name]).to.deep.equal([1, 'InvalidArgumentsError']);
      expect(error?.message).to.contain('args.city must NOT have fewer than 1 characters');
    });
  });

  it('applies the retry rules to any other error of an upgrade, and lets it cancel or snooze the job', async () => {
    const queue = fixture.newQueue();
    const client = new JobClient(fixture.storage);
    const later = defineJob({
      name: 'ship',
      queue,
      version: 2,
      retryDelay: [3_600_000],
      upgrade: ({ address }: { address?: string }) => {
        if (address === undefined) throw new RangeError('no address');
        throw new SnoozeJob(3_600_000);
      },
    });
    const broken = await client.enqueue(defineJob({ name: 'ship', queue }), {});
    const snoozed = await client.enqueue(older(queue), { address: 'Delft' });
    await whileServing(fixture, queue, [handleJob(later, () => 'unreachable')], async () => {
      const retried = await jobInState(fixture, broken.id, 'scheduled');
      expect([retried.attempt, retried.error?.message]).to.deep.equal([1, 'no address']);
      expect((await jobInState(fixture, snoozed.id, 'scheduled')).attempt).to.equal(0);
    });
  });

  it('gives the jobs of a recurring job the version for which its arguments were written', async () => {
    const { recurring, jobs } = fixture.storage;
    const queue = fixture.newQueue();
    const versions = [];
    for (const recurringJob of [
      defineRecurringJob({
        id: 'changing',
        cron: '@yearly',
        definition: older(queue),
        args: { address: 'Markt 1, Delft' },
      }),
      defineRecurringJob({
        id: 'changing',
        cron: '@yearly',
        definition: newer(queue),
        args: { street: 'Markt 1', city: 'Delft' },
      }),
    ]) {
      const { version } = await recurring.addOrUpdate(recurringJob);
      const triggered = await recurring.trigger('changing');
      versions.push([version, (await jobs.find(triggered?.id ?? ''))?.version]);
    }
    await recurring.remove('changing');
    expect(versions).to.deep.equal([
      [1, 1],
      [2, 2],
    ]);
  });

  it('runs jobs that were enqueued under an alias, which keep their name', async () => {
    const queue = fixture.newQueue();
    const client = new JobClient(fixture.storage);
    const renamed = defineJob({ name: 'dispatch', queue, aliases: ['ship', 'send'] });
    const old = await client.enqueue(older(queue), { address: 'Delft' });
    const handler = handleJob(renamed, ({ job }) => job.name);
    await whileServing(fixture, queue, [handler], async () => {
      const { name, result } = await jobInState(fixture, old.id, 'done');
      expect([name, result]).to.deep.equal(['ship', 'ship']);
      expect((await client.find(renamed, old.id))?.id).to.equal(old.id);
    });
  });
}
