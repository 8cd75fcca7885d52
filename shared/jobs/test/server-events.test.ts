import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import {
  CancelJob,
  defineJob,
  handleJob,
  JobClient,
  type JobServer,
  type JobServerEvents,
  MemoryStorage,
  SnoozeJob,
} from '../src/index.js';
import type { Claim } from '../src/storage.js';
import { jobInState, whileServing } from './support/serving.js';

describe('A job server with listeners', () => {
  let storage: MemoryStorage;
  let aheadMs: number;

  beforeEach(() => {
    aheadMs = 0;
    storage = new MemoryStorage({ clock: { now: () => Date.now() + aheadMs } });
  });

  it('emits the outcome of each attempt', async () => {
    const queue = 'work';
    const eventful = defineJob({ name: 'eventful', queue, retryDelay: [1], maxAttempts: 2 });
    let runs = 0;
    const handler = handleJob(eventful, () => {
      runs++;
      if (runs === 1) throw new SnoozeJob(1);
      if (runs < 4) throw new Error('no');
      if (runs === 4) throw new CancelJob('enough');
    });
    const events: string[] = [];
    const names: (keyof JobServerEvents)[] = ['snoozed', 'retrying', 'failed', 'cancelled', 'done'];
    await whileServing(storage, queue, [handler], async (server) => {
      for (const name of names) server.on(name, () => events.push(name));
      const client = new JobClient(storage);
      for (const state of ['failed', 'cancelled', 'done'] as const) {
        const { id } = await client.enqueue(eventful, {});
        await jobInState(storage, id, state);
      }
    });
    expect(events).to.deep.equal(['snoozed', 'retrying', 'failed', 'cancelled', 'done']);
  });

  it('emits the claims whose leases it lost', async () => {
    const queue = 'work';
    const stuck = defineJob({ name: 'stuck', queue });
    let runs = 0;
    const handler = handleJob(stuck, async ({ signal }) => {
      runs++;
      if (runs === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const work = async (server: JobServer): Promise<void> => {
      const lost: Claim[] = [];
      server.on('lost', ({ claim }) => lost.push(claim));
      const serverId = server.id ?? '';
      const { id: jobId } = await new JobClient(storage).enqueue(stuck, {});
      await eventually(
        () => runs,
        (count) => count === 1,
      );
      aheadMs += 2 * 3_600_000; // longer than the server's timeout
      await storage.maintenance.rescue();
      await jobInState(storage, jobId, 'done');
      expect(lost).to.deep.equal([{ jobId, queue, serverId, attempt: 1 }]);
    };
    await whileServing(storage, queue, [handler], work);
  });

  it('emits what it has rescued', async () => {
    const queue = 'work';
    const report = { deadServers: ['gone'], released: 2, failed: 1 };
    let rescues = 0;
    storage.maintenance.rescue = async () =>
      ++rescues === 2 ? report : { deadServers: [], released: 0, failed: 0 };
    await whileServing(
      storage,
      queue,
      [],
      async (server) => {
        const rescued: unknown[] = [];
        server.on('rescued', (event) => rescued.push(event));
        await eventually(() => rescues > 2);
        expect(rescued).to.deep.equal([report]);
      },
      { slidingInvisibilityTimeoutMs: 1_000 },
    );
  });

  it('keeps running if a listener throws', async () => {
    const queue = 'work';
    const calm = defineJob({ name: 'calm', queue });
    await whileServing(storage, queue, [handleJob(calm, () => null)], async (server) => {
      server.on('started', () => {
        throw new Error('a bad listener');
      });
      const { id } = await new JobClient(storage).enqueue(calm, {});
      await jobInState(storage, id, 'done');
    });
  });

  it('keeps running if a listener, middleware and the logger throw', async () => {
    const queue = 'work';
    const plain = defineJob({ name: 'plain', queue, maxAttempts: 1 });
    const broken = (): never => {
      throw new Error('broken');
    };
    const later = (): unknown => Promise.reject(new Error('broken, later'));
    const options = {
      logger: { debug: broken, info: broken, warn: broken, error: broken },
      middleware: [
        async (context: { args: unknown }, next: () => Promise<unknown>) => {
          if ((context.args as { refuse?: true }).refuse === true) broken();
          return next();
        },
      ],
    };
    await whileServing(
      storage,
      queue,
      [handleJob(plain, () => 'ran')],
      async (server) => {
        server.on('started', broken);
        server.on('done', () => later());
        const client = new JobClient(storage);
        const [bad, good] = [await client.enqueue(plain, { refuse: true }), await client.enqueue(plain, {})];
        expect((await jobInState(storage, good.id, 'done')).result).to.equal('ran');
        expect((await jobInState(storage, bad.id, 'failed')).error?.message).to.equal('broken');
      },
      options,
    );
  });
});
