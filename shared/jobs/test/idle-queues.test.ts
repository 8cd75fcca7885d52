import { expect } from 'chai';
import { defineJob, JobClient, MemoryStorage, RecurringClient } from '../src/index.js';
import { idleQueueDays } from '../src/storage.js';

const dayMs = 86_400_000;
const work = defineJob({ name: 'work', queue: 'mail' });

describe('The idle queues of a memory storage', () => {
  let nowMs: number;
  let storage: MemoryStorage;

  beforeEach(async () => {
    nowMs = Date.now();
    storage = new MemoryStorage({ clock: { now: () => nowMs } });
    const { id } = await new JobClient(storage).enqueue(work, {});
    await storage.control.cancel(id);
  });

  afterEach(() => storage.close());

  /** Runs maintenance now, and again after `days` days on the test's clock. */
  async function pass(days: number): Promise<void> {
    await storage.maintenance.maintain();
    nowMs += days * dayMs;
    await storage.maintenance.maintain();
  }

  const shown = async (): Promise<string[]> => (await storage.queues.list()).map(({ name }) => name);

  it('are deleted after 30 days', async () => {
    await pass(idleQueueDays - 0.1);
    expect(await shown()).to.deep.equal(['mail']);
    await pass(0.2);
    expect(await shown()).to.deep.equal([]);
  });

  const uses: Readonly<Record<string, () => Promise<unknown>>> = {
    'holds jobs': () => new JobClient(storage).enqueue(work, {}),
    'is served': () =>
      storage.servers.register({ host: 'x', pid: 1, queues: ['mail'], concurrency: 1, timeoutMs: 60_000 }),
    'is paused': () => storage.queues.pause('mail'),
    'is limited': () => storage.queues.limit('mail', { concurrencyLimit: 1 }),
    'is named by a recurring job': () =>
      new RecurringClient(storage.recurring).addOrUpdate({
        id: 'nightly',
        definition: work,
        args: {},
        cron: '0 0 * * *',
      }),
  };
  for (const [how, use] of Object.entries(uses)) {
    it(`do not include one that ${how}`, async () => {
      await use();
      await pass(100);
      expect(await shown()).to.deep.equal(['mail']);
    });
  }

  it('are idle from the end of a job that ran between two checks', async () => {
    await storage.maintenance.maintain();
    nowMs += 29 * dayMs;
    const { id } = await new JobClient(storage).enqueue(work, {});
    await storage.control.cancel(id);
    await pass(29);
    expect(await shown()).to.deep.equal(['mail']);
  });
});
