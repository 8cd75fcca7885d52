import { expect } from 'chai';
import Type from 'typebox';
import {
  defineJob,
  defineRecurringJob,
  handleJob,
  JobClient,
  JobEvents,
  MemoryStorage,
} from '../src/index.js';
import { jobInState, whileServing } from './support/serving.js';

const add = defineJob({
  name: 'add',
  args: Type.Object({ a: Type.Integer(), b: Type.Integer() }),
  result: Type.Integer(),
});
const greet = defineJob({ name: 'greet', args: Type.Object({ name: Type.String() }) });
const sweep = defineJob({ name: 'sweep' });

/** Each misuse has a `@ts-expect-error`, so the build fails if the compiler does not report it. */
describe('The types of jobs', () => {
  let storage: MemoryStorage;
  let client: JobClient;

  beforeEach(() => {
    storage = new MemoryStorage();
    client = new JobClient(storage);
  });

  const rejected = async (enqueue: () => Promise<unknown>): Promise<void> => {
    expect(
      await enqueue().then(
        () => 'enqueued',
        () => 'rejected',
      ),
    ).to.equal('rejected');
  };

  it('check the arguments of one job', async () => {
    // @ts-expect-error b is missing
    await rejected(() => client.enqueue(add, { a: 1 }));
    // @ts-expect-error the arguments are missing
    await rejected(() => client.enqueue(add));
  });

  it('check the arguments of several jobs, each against its own definition', async () => {
    await rejected(() =>
      client.enqueueMany([
        { definition: add, args: { a: 1, b: 2 } },
        // @ts-expect-error name is a string
        { definition: greet, args: { name: 1 } },
      ]),
    );
    // @ts-expect-error b is missing
    await rejected(() => client.enqueueMany([1, 2].map((a) => ({ definition: add, args: { a } }))));
  });

  it('check the arguments of a batch and of its callback', async () => {
    // @ts-expect-error b is missing
    await rejected(() => client.enqueueBatch({ jobs: [{ definition: add, args: { a: 1 } }] }));
    const jobs = [{ definition: add, args: { a: 1, b: 2 } }];
    // @ts-expect-error name is missing
    await rejected(() => client.enqueueBatch({ jobs, callback: { definition: greet, args: {} } }));
  });

  it('need no arguments for a definition without any', async () => {
    const [one, two] = await client.enqueueMany([{ definition: sweep }, { definition: sweep }]);
    const { jobs } = await client.enqueueBatch({ jobs: [{ definition: sweep }] });
    const ids = [(await client.enqueue(sweep)).id, one.id, two.id, jobs[0].id];
    for (const id of ids) expect((await client.find(sweep, id))?.args).to.deep.equal({});
    expect(defineRecurringJob({ id: 'nightly', definition: sweep, cron: '0 0 * * *' }).args).to.equal('{}');
  });

  it('carry the arguments and the result from the definition to the reader', async () => {
    const events = new JobEvents(storage);
    const handler = handleJob(add, ({ args, job }) => args.a + job.args.b);
    await whileServing(storage, 'default', [handler], async () => {
      const job = await events.waitForEnd(await client.enqueue(add, { a: 1, b: 2 }), 3_600_000);
      const sum: number = (job?.result ?? 0) + (job?.args.a ?? 0);
      expect(sum).to.equal(4);
    });
    await events.close();
  });

  it('carry the results of parents to the handler, by their definitions', async () => {
    const handler = handleJob(greet, async ({ parents }) => {
      const [first, second] = await parents([add, sweep]);
      // @ts-expect-error the result of add is a number
      const text: string | null = first.result;
      const sums: (number | null)[] = [first.result];
      return [text, sums, second.state];
    });
    const adding = handleJob(add, ({ args }) => args.a + args.b);
    const handlers = [handler, adding, handleJob(sweep, () => null)];
    await whileServing(storage, 'default', handlers, async () => {
      const jobs = await client.enqueueMany([
        { definition: add, args: { a: 1, b: 2 } },
        { definition: sweep },
      ]);
      const after = { parents: jobs.map(({ id }) => id) };
      const { id } = await client.enqueue(greet, { name: 'Ada' }, { after });
      expect((await jobInState(storage, id, 'done')).result).to.deep.equal([3, [3], 'done']);
    });
  });

  it('find a job only by the definition that it has', async () => {
    const { id } = await client.enqueue(greet, { name: 'Ada' });
    expect((await client.find(greet, id))?.args.name).to.equal('Ada');
    expect(await client.find(add, id)).to.equal(null);
  });

  it('hold handlers to the result of the definition', async () => {
    // @ts-expect-error the result is an integer
    const handler = handleJob(add, () => 'three');
    await whileServing(storage, 'default', [handler], async () => {
      const { id } = await client.enqueue(add, { a: 1, b: 2 }, { maxAttempts: 1 });
      const { error } = await jobInState(storage, id, 'failed');
      expect(error).to.include({ name: 'InvalidArgumentsError', message: 'result must be integer' });
    });
  });
});
