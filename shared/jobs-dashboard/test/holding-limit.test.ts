import type { JsonValue } from '@longshore/jobs';
import type { QueueLimits } from '@longshore/jobs/storage';
import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { readHoldingLimit } from '../src/diagnosis/holding-limit.js';
import { readLimitSettings } from '../src/diagnosis/limit-settings.js';
import { slowTypeWarnings } from '../src/diagnosis/slow-types.js';
import { findTypeHealth } from '../src/diagnosis/type-health.js';
import { plainText, type Sentence } from '../src/format/sentence.js';
import { SEED_TIMEOUT_MS, SeededStorage } from './seeded-storage.js';

const MINUTE_MS = 60_000;

describe('a job type whose jobs wait longer', () => {
  let clock: ManualClock;
  let storage: SeededStorage;
  beforeEach(() => {
    clock = new ManualClock();
    storage = new SeededStorage(clock);
  });
  afterEach(() => storage.close());

  const pass = (minutes: number, waitedMs: number): void => {
    for (let minute = 0; minute < minutes; minute++) {
      for (let attempt = 0; attempt < 50; attempt++) {
        storage.timings.started('mail', 'send-mail', { waitedMs, readyMs: waitedMs });
        storage.timings.ended('mail', 'send-mail', 'done', 200);
      }
      storage.timings.store();
      clock.advance(MINUTE_MS);
    }
  };
  /** Sets the limits of the queue as the operation does. */
  const limit = async (who: string, limits: QueueLimits): Promise<void> => {
    const values = JSON.parse(JSON.stringify(limits)) as JsonValue;
    await storage.queues.limit('mail', limits, {
      audit: (before) => ({
        who,
        action: 'queues/limit',
        target: 'mail',
        filter: { values, before: before && { concurrencyLimit: before.concurrencyLimit, rateLimit: null } },
        count: 1,
      }),
    });
  };
  /** Runs as many of ten jobs, on a server with eight slots. */
  const run = async (running: number): Promise<void> => {
    const { id } = await storage.servers.register({
      host: 'worker-1',
      pid: 1,
      queues: ['mail'],
      concurrency: 8,
      timeoutMs: SEED_TIMEOUT_MS,
    });
    for (let index = 0; index < 10; index++) await storage.add({ name: 'send-mail', queue: 'mail' });
    for (let index = 0; index < running; index++) await storage.start(id, 'mail');
  };
  const advice = async (queue?: string): Promise<string> => {
    const { slow } = await findTypeHealth(storage, queue);
    const holding = await readHoldingLimit(slow, { reader: storage, now: clock.now }, queue);
    const [warning] = slowTypeWarnings(slow, holding);
    return plainText([warning?.advice ?? ''].flat(), clock.now());
  };

  it('because of the limit of its queue names it, and who set it when', async () => {
    pass(120, 5);
    await storage.queues.create('mail', { concurrencyLimit: null, rateLimit: null });
    await limit('ann', { concurrencyLimit: 2, rateLimit: null });
    pass(4, 300_000);
    await run(2);
    const expected =
      'Queue “mail” is at its limit of 2 jobs at once, set by ann 4 min ago. More servers would not help: raise the limit, or let the jobs wait.';
    expect([await advice(), await advice('mail')]).to.deep.equal([expected, expected]);
  });

  it('because of the rate of its queue names it', async () => {
    pass(120, 5);
    await storage.queues.create('mail', { concurrencyLimit: null, rateLimit: null });
    await limit('ann', { concurrencyLimit: null, rateLimit: { jobs: 5, periodMs: MINUTE_MS } });
    pass(4, 300_000);
    await run(1);
    clock.advance(1_000);
    expect(await advice()).to.match(/^Queue “mail” starts at most 5 jobs in 1 min, set by ann 4 min ago\./);
  });

  it('although its queue is below its limit is not said to be held by it', async () => {
    pass(120, 5);
    await storage.queues.create('mail', { concurrencyLimit: 9, rateLimit: null });
    pass(4, 300_000);
    await run(8);
    expect(await advice()).to.equal(
      'Check which jobs are ahead of it, and whether its queue has enough servers.',
    );
  });
});

describe('the limits of a queue', () => {
  const clock = new ManualClock();
  let storage: SeededStorage;
  beforeEach(async () => {
    storage = new SeededStorage(clock);
    await storage.queues.create('mail', { concurrencyLimit: 2, rateLimit: { jobs: 9, periodMs: MINUTE_MS } });
  });
  afterEach(() => storage.close());

  const record = async (who: string, values: object, before: object | null, more: object = {}) => {
    const filter = JSON.parse(JSON.stringify({ values, before, ...more })) as JsonValue;
    await storage.audit.record({ who, action: 'queues/limit', target: 'mail', filter, count: 1 });
    clock.advance(MINUTE_MS);
  };
  const settings = async (): Promise<(string | null)[]> => {
    const queue = await storage.queues.find('mail');
    if (queue === null) throw new Error('The queue is missing');
    const { concurrencyLimit, rateLimit } = await readLimitSettings(queue, storage);
    const text = (setting: Sentence | null) => setting && plainText(setting, clock.now());
    return [text(concurrencyLimit), text(rateLimit)];
  };
  const rateLimit = { jobs: 9, periodMs: MINUTE_MS };

  it('were set by those who changed them last, not by those who set them again', async () => {
    await record('ann', { concurrencyLimit: 2, rateLimit: null }, { concurrencyLimit: 5, rateLimit: null });
    await record('bob', { concurrencyLimit: 2, rateLimit }, { concurrencyLimit: 2, rateLimit: null });
    await record('cid', { concurrencyLimit: 2, rateLimit }, { concurrencyLimit: 2, rateLimit });
    await record('dan', { concurrencyLimit: 3, rateLimit }, null, { outcome: 'refused', why: 'gone' });
    expect(await settings()).to.deep.equal(['set by ann 4 min ago', 'set by bob 3 min ago']);
  });

  it('were set by nobody known if they have changed since without an action', async () => {
    await record('ann', { concurrencyLimit: 2, rateLimit }, null);
    await record('bob', { concurrencyLimit: 4, rateLimit }, { concurrencyLimit: 2, rateLimit });
    expect(await settings()).to.deep.equal([null, 'set by ann 2 min ago']);
  });

  it('in code name the application', async () => {
    await storage.queues.synchronize('shop', { mail: { concurrencyLimit: 7 } });
    clock.advance(MINUTE_MS);
    expect(await settings()).to.deep.equal(['set by the code of shop 1 min ago', null]);
  });
});
