import { expect } from 'chai';
import { it } from 'mocha';
import Type from 'typebox';
import { defineJob, handleJob, JobClient, type JobContext, type JobHandler } from '@longshore/jobs';
import { jobInState, whileServing } from './serving-queue.js';
import { type Fixture, yearMs } from './storage-under-test.js';

/** Defines the tests of what a handler can read of the work before its attempt. */
export function readingEarlierWork(fixture: Fixture): void {
  const definitionsIn = (queue: string) => ({
    pick: defineJob({ name: 'pick', queue, result: Type.Object({ boxes: Type.Integer() }) }),
    pack: defineJob({ name: 'pack', queue, result: Type.Array(Type.String()) }),
    report: defineJob({ name: 'report', queue, maxAttempts: 1 }),
    count: defineJob({
      name: 'count',
      queue,
      args: Type.Object({ number: Type.Integer() }),
      result: Type.Integer(),
      maxAttempts: 1,
    }),
  });
  type Definitions = ReturnType<typeof definitionsIn>;

  const handlersOf = ({ pick, pack, count }: Definitions): JobHandler[] => [
    handleJob(pick, () => ({ boxes: 3 })),
    handleJob(pack, () => ['a', 'b']),
    handleJob(count, ({ args }) => {
      if (args.number % 2 === 1) throw new RangeError(`${args.number} is odd`);
      return args.number;
    }),
  ];

  /**
   * Runs a server whose handler of `report` does `read`, and has `work` enqueue. Resolves to the result of the job
   * whose id `work` returns.
   */
  async function reported(
    read: (context: JobContext<unknown>, definitions: Definitions) => unknown,
    work: (client: JobClient, definitions: Definitions) => Promise<string>,
  ): Promise<unknown> {
    const queue = fixture.newQueue();
    const definitions = definitionsIn(queue);
    const handler = handleJob(definitions.report, (context) => read(context, definitions));
    return whileServing(fixture, queue, [...handlersOf(definitions), handler], async () => {
      const id = await work(new JobClient(fixture.storage), definitions);
      return (await jobInState(fixture, id, 'done')).result;
    });
  }

  const afterBoth = async (client: JobClient, { pick, pack, report }: Definitions): Promise<string> => {
    const [packing, picking] = await client.enqueueMany([{ definition: pack }, { definition: pick }]);
    const after = { parents: [picking.id, packing.id] };
    return (await client.enqueue(report, {}, { after })).id;
  };

  it('gives a continuation its parents, in the order of after, with their results', async () => {
    const result = await reported(async ({ parents }) => {
      const found = await parents();
      return found.map((parent) =>
        parent.kind === 'batch' ? null : [parent.name, parent.state, parent.error, parent.result],
      );
    }, afterBoth);
    expect(result).to.deep.equal([
      ['pick', 'done', null, { boxes: 3 }],
      ['pack', 'done', null, ['a', 'b']],
    ]);
  });

  it('types the results by the definitions of the parents', async () => {
    const result = await reported(async ({ parents }, { pick, pack }) => {
      const [picked, packed] = await parents([pick, pack]);
      const boxes: number | undefined = picked.result?.boxes;
      const labels: readonly string[] | null = packed.result;
      return { boxes, labels };
    }, afterBoth);
    expect(result).to.deep.equal({ boxes: 3, labels: ['a', 'b'] });
  });

  it('refuses definitions in another order, and names each parent that differs', async () => {
    const result = await reported(async ({ parents }, { pick, pack }) => {
      const refused = async (): Promise<unknown> => parents([pack, pick]);
      return refused().catch((error: unknown) => (error as Error).message);
    }, afterBoth);
    expect(result)
      .to.be.a('string')
      .that.matches(/parent 0 is a job "pick" \(.*\), not a job "pack"; parent 1 is a job "pack"/);
  });

  it('refuses another number of definitions, and lists the parents', async () => {
    const result = await reported(async ({ parents }, { pick }) => {
      const refused = async (): Promise<unknown> => parents([pick]);
      return refused().catch((error: unknown) => (error as Error).message);
    }, afterBoth);
    expect(result)
      .to.be.a('string')
      .that.matches(/this job has 2 parents \(a job "pick".*, a job "pack".*\), but 1 definitions/);
  });

  it('types all parents by one definition, and includes the errors of those that failed', async () => {
    const result = await reported(
      async ({ parents }, { count }) =>
        (await parents(count)).map((parent) => parent.error?.message ?? parent.result),
      async (client, { count, report }) => {
        const jobs = await client.enqueueMany(
          [1, 2].map((number) => ({ definition: count, args: { number } })),
        );
        const after = { parents: jobs.map(({ id }) => id), when: 'onAny' } as const;
        return (await client.enqueue(report, {}, { after })).id;
      },
    );
    expect(result).to.deep.equal(['1 is odd', 2]);
  });

  it('marks a parent that was deleted', async () => {
    let deleted = '';
    const result = await reported(
      async ({ parents }, { pick }) => parents([pick]),
      async (client, { pick, report }) => {
        deleted = (await client.enqueue(pick)).id;
        const { id } = await client.enqueue(report, {}, { after: { parents: [deleted] }, delayMs: yearMs });
        await jobInState(fixture, id, 'scheduled');
        await fixture.storage.control.delete(deleted);
        await fixture.storage.control.run(id);
        return id;
      },
    );
    const gone = { kind: 'deleted', id: deleted, name: null, state: null, result: null, error: null };
    expect(result).to.deep.equal([gone]);
  });

  it('gives a callback its batch: the counts, all failed jobs and all results', async () => {
    const result = await reported(
      async ({ batch: readBatch }, { count }) => {
        const batch = await readBatch();
        if (batch === null) return null;
        let failed = 0;
        let sum = 0;
        for await (const { args, error } of batch.failedJobs(count))
          if (error?.message === `${args.number} is odd`) failed++;
        for await (const number of batch.results(count)) sum += number;
        const { name, state, total, done } = batch;
        return { name, state, total, done, failed, sum };
      },
      async (client, { count, report }) => {
        const jobs = Array.from({ length: 220 }, (_, number) => ({ definition: count, args: { number } }));
        const { callback } = await client.enqueueBatch({
          name: 'numbers',
          jobs,
          callback: { definition: report },
          callbackWhen: 'onAny',
        });
        return callback?.id ?? '';
      },
    );
    const counts = { name: 'numbers', state: 'failed', total: 220, done: 110, failed: 110 };
    expect(result).to.deep.equal({ ...counts, sum: 11_990 });
  });

  it('reads only the jobs of the given definition, and leaves the others of the batch out', async () => {
    const result = await reported(
      async ({ batch: readBatch }, { pick }) => {
        const batch = await readBatch();
        const boxes: number[] = [];
        for await (const picked of batch?.results(pick) ?? []) boxes.push(picked.boxes);
        return boxes;
      },
      async (client, { count, pick, report }) => {
        const { callback } = await client.enqueueBatch({
          jobs: [{ definition: pick }, { definition: count, args: { number: 2 } }],
          callback: { definition: report },
        });
        return callback?.id ?? '';
      },
    );
    expect(result).to.deep.equal([3]);
  });

  it('gives a job that waited for a job and a batch both of them', async () => {
    const result = await reported(
      async ({ parents, batch }) => [(await parents()).map(({ kind }) => kind), (await batch())?.kind],
      async (client, { count, pick, report }) => {
        const picking = await client.enqueue(pick);
        const { id } = await client.enqueueBatch({ jobs: [{ definition: count, args: { number: 2 } }] });
        return (await client.enqueue(report, {}, { after: { parents: [picking.id, id] } })).id;
      },
    );
    expect(result).to.deep.equal([['job', 'batch'], 'batch']);
  });

  it('gives a job that waited for nothing no parents and no batch', async () => {
    const result = await reported(
      async ({ parents, batch, earlierErrors }) => [await parents(), await batch(), await earlierErrors()],
      async (client, { report }) => (await client.enqueue(report)).id,
    );
    expect(result).to.deep.equal([[], null, []]);
  });

  it('gives a retried attempt the earlier errors, oldest first', async () => {
    const queue = fixture.newQueue();
    const flaky = defineJob({ name: 'flaky', queue, retryDelay: () => 1 });
    const handler = handleJob(flaky, async ({ job, earlierErrors }) => {
      if (job.attempt < 3) throw new RangeError(`attempt ${job.attempt}`);
      const errors = await earlierErrors();
      return errors.map(({ attempt, error, startedAt, finishedAt }) => [
        attempt,
        error.message,
        startedAt <= finishedAt,
      ]);
    });
    const result = await whileServing(fixture, queue, [handler], async () => {
      const { id } = await new JobClient(fixture.storage).enqueue(flaky);
      return (await jobInState(fixture, id, 'done')).result;
    });
    expect(result).to.deep.equal([
      [1, 'attempt 1', true],
      [2, 'attempt 2', true],
    ]);
  });
}
