import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import Type from 'typebox';
import {
  type BoundClient,
  defineJob,
  handleJob,
  type Job,
  JobClient,
  type JobContext,
  JobServer,
  type JobServerOptions,
  type JobState,
  MemoryStorage,
  type TransactionClient,
} from '../src/index.js';
import type { BeginTransaction } from '../src/memory/memory-claims.js';
import { jobInState, whileServing } from './support/serving.js';

const work = defineJob({ name: 'work', queue: 'work', maxAttempts: 1 });
const other = defineJob({ name: 'other', queue: 'others' });
const note = defineJob({ name: 'note', queue: 'notes', args: Type.Object({ text: Type.String() }) });

/** Runs work in a transaction without a database. What is to happen after its commit happens unless the work throws. */
const begin: BeginTransaction = async (inTransaction) => {
  const acts: (() => void)[] = [];
  const client: TransactionClient = {
    query: async () => ({ rows: [] }),
    afterCommit: (act) => void acts.push(act),
  };
  const result = await inTransaction(client);
  for (const act of acts) act();
  return result;
};

describe('The client of a handler', () => {
  let storage: MemoryStorage;

  beforeEach(() => {
    storage = new MemoryStorage({ transaction: begin });
  });

  /** Runs a job with this handler until it is in `state`. */
  const run = (
    handle: (context: JobContext<unknown>) => unknown,
    state: JobState = 'done',
    options: Partial<JobServerOptions> = {},
    whileRunning: (id: string) => unknown = () => undefined,
  ): Promise<Job> =>
    whileServing(
      storage,
      'work',
      [handleJob(work, handle)],
      async () => {
        const { id } = await new JobClient(storage).enqueue(work, {});
        await whileRunning(id);
        return jobInState(storage, id, state);
      },
      options,
    );

  const notes = async (): Promise<unknown[]> =>
    (await storage.jobs.list({ filter: { name: ['note'] }, order: 'oldest', limit: 10 })).map(
      ({ args }) => (args as { text: string }).text,
    );

  it('has the types of the definitions', async () => {
    await run(async ({ enqueue, enqueueMany }) => {
      const many = await enqueueMany([{ definition: note, args: { text: 'a' } }, { definition: other }]);
      const length: 2 = many.length;
      // @ts-expect-error text is a string
      await enqueue(note, { text: length }).catch(() => undefined);
    });
    expect(await notes()).to.deep.equal(['a']);
  });

  it('returns plain data, which a handler can return as its result', async () => {
    const { result } = await run(async ({ enqueue, enqueueBatch }) => [
      await enqueue(note, { text: 'a' }),
      await enqueueBatch({
        jobs: [{ definition: note, args: { text: 'b' } }],
        callback: { definition: other },
      }),
    ]);
    const id = /^[0-9a-f-]{36}$/;
    expect(result).to.have.nested.property('[0].id').that.matches(id);
    expect(result).to.have.nested.property('[1].jobs[0].queue', 'notes');
    expect(result).to.have.nested.property('[1].callback.created', true);
  });

  it('is like a job client, so that code can take either', async () => {
    const remind = (client: BoundClient) => client.enqueue(note, { text: 'either' });
    await remind(new JobClient(storage));
    await run(remind);
    expect(await notes()).to.deep.equal(['either', 'either']);
  });

  it('is that of the server, whose middleware sees which job enqueues', async () => {
    const seen: unknown[] = [];
    const client = new JobClient(storage, {
      middleware: [
        ({ enqueuedBy, requests }, next) => {
          seen.push([enqueuedBy, requests.length]);
          return next();
        },
      ],
    });
    const { id } = await run(
      ({ enqueueMany }) => enqueueMany([1, 2].map((n) => ({ definition: note, args: { text: String(n) } }))),
      'done',
      { client },
    );
    expect(seen).to.deep.equal([[id, 2]]);
  });

  it('enqueues in the handler’s transaction, whether or not the call names it', async () => {
    const { id } = await run(({ enqueue, enqueueMany, enqueueBatch, transaction }) =>
      transaction(async () => {
        await enqueue(note, { text: 'one' });
        await enqueueMany([{ definition: note, args: { text: 'two' } }]);
        await enqueueBatch({ jobs: [{ definition: note, args: { text: 'three' } }] });
        expect(await notes(), 'before the commit').to.deep.equal([]);
      }),
    );
    expect(await notes()).to.deep.equal(['one', 'two', 'three']);
    const enqueued = await storage.jobs.list({ filter: { enqueuedBy: [id] }, limit: 10 });
    expect(enqueued).to.have.length(3);
  });

  it('leaves none of the jobs if the transaction rolls back', async () => {
    await run(
      ({ enqueue, enqueueBatch, transaction }) =>
        transaction(async () => {
          await enqueue(note, { text: 'one' });
          await enqueueBatch({ jobs: [{ definition: note, args: { text: 'two' } }] });
          throw new Error('no');
        }),
      'failed',
    );
    expect(await notes()).to.deep.equal([]);
    expect(await storage.batches.list({ limit: 1 })).to.deep.equal([]);
  });

  it('enqueues durably before and after the transaction', async () => {
    await run(async ({ enqueue, transaction }) => {
      await enqueue(note, { text: 'before' });
      await transaction(() => Promise.reject(new Error('no'))).catch(() => undefined);
      await enqueue(note, { text: 'after' });
    });
    expect(await notes()).to.deep.equal(['before', 'after']);
  });

  it('goes on enqueueing when the job is cancelled', async () => {
    let begun: () => void = () => undefined;
    const running = new Promise<void>((resolve) => (begun = resolve));
    await run(
      async ({ enqueue, signal }) => {
        const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
        begun();
        await aborted;
        await enqueue(note, { text: 'clean up' });
        signal.throwIfAborted();
      },
      'cancelled',
      {},
      async (id) => {
        await running;
        await storage.control.cancel(id);
      },
    );
    expect(await notes()).to.deep.equal(['clean up']);
  });

  it('rejects once the server has given up on the handler', async () => {
    const late = defineJob({ name: 'late', queue: 'work', maxAttempts: 1, timeoutMs: 1 });
    let enqueue: BoundClient['enqueue'] | undefined;
    const handler = handleJob(late, (context) => {
      ({ enqueue } = context);
      return new Promise<never>(() => undefined);
    });
    const failed = async (): Promise<Job> => {
      const { id } = await new JobClient(storage).enqueue(late, {});
      return jobInState(storage, id, 'failed');
    };
    await whileServing(storage, 'work', [handler], failed, { timeoutGraceMs: 0 });
    const error: unknown = await enqueue?.(note, { text: 'too late' }).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('name', 'JobTimeoutError');
    expect(await notes()).to.deep.equal([]);
  });

  it('takes no transaction, because the handler has one', async () => {
    const { error } = await run(({ enqueue }) => {
      const options = { transaction: { query: async () => ({ rows: [] }) } };
      return enqueue(note, { text: 'no' }, options as object);
    }, 'failed');
    expect(error?.message).to.contain('enqueue has no option "transaction"');
  });

  it('is checked when the server is created', () => {
    const client = storage as unknown as JobClient;
    expect(() => new JobServer({ storage, handlers: [], client })).to.throw(
      TypeError,
      'JobServer: client must be a client, such as new JobClient(storage)',
    );
  });
});

describe('Jobs enqueued in a transaction in memory', () => {
  const clock = new ManualClock();
  let storage: MemoryStorage;
  let client: JobClient;

  beforeEach(() => {
    storage = new MemoryStorage({ clock });
    client = new JobClient(storage);
  });

  it('can depend on jobs and batches of the same transaction', async () => {
    const ids = await begin(async (transaction) => {
      const { id: parent } = await client.enqueue(work, {}, { transaction });
      const { id: batch } = await client.enqueueBatch({ jobs: [{ definition: work }] }, transaction);
      const after = { parents: [parent, batch] };
      return [(await client.enqueue(work, {}, { transaction, after })).id, parent, batch];
    });
    const job = await storage.jobs.find(ids[0] ?? '');
    expect([job?.state, job?.parentIds]).to.deep.equal(['awaiting', ids.slice(1)]);
  });

  it('hold their keys in the transaction, and for all after the commit', async () => {
    const unique = { key: 'a' };
    const [first, again] = await begin(async (transaction) => [
      await client.enqueue(work, {}, { transaction, unique }),
      await client.enqueue(work, {}, { transaction, unique }),
    ]);
    expect(again).to.include({ id: first?.id, created: false });
    expect(await client.enqueue(work, {}, { unique })).to.include({ id: first?.id, created: false });
  });

  it('hold no keys if the transaction rolls back', async () => {
    const unique = { key: 'a' };
    const rolledBack = begin(async (transaction) => {
      await client.enqueue(work, {}, { transaction, unique });
      throw new Error('no');
    });
    await rolledBack.catch(() => undefined);
    expect((await client.enqueue(work, {}, { unique })).created).to.equal(true);
  });

  it('are not created if another job has taken their key by the commit', async () => {
    const unique = { key: 'a' };
    let other: string | undefined;
    await begin(async (transaction) => {
      await client.enqueue(work, {}, { transaction, unique });
      other = (await client.enqueue(work, {}, { unique })).id;
    });
    expect((await storage.jobs.list({ limit: 10 })).map(({ id }) => id)).to.deep.equal([other]);
  });

  it('replace the content of the holder of their key at the commit', async () => {
    const unique = { key: 'a', onConflict: 'replace' } as const;
    const { id } = await client.enqueue(work, {}, { unique, tags: ['old'] });
    await begin(async (transaction) => {
      await client.enqueue(work, {}, { transaction, unique, tags: ['new'] });
      expect((await storage.jobs.find(id))?.tags).to.deep.equal(['old']);
    });
    expect((await storage.jobs.find(id))?.tags).to.deep.equal(['new']);
  });
});
