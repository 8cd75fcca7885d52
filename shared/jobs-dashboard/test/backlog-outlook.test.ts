import type { BlockingKeys, Queue, TimingQuery } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { BacklogOutlooks } from '../src/diagnosis/backlog-outlook.js';
import { noBlockingKeys } from '../src/diagnosis/blocking-keys.js';
import { BacklogSamples } from '../src/reading/backlog-samples.js';
import { Random } from './backlog-histories.js';
import { openSite, textOf } from './dashboard-site.js';
import { ago, counts, nowMs, queue, read, server } from './situation.js';

/** A process that reads the queue “q” of a storage whose numbers a test sets. */
class Watched {
  readonly settings: Partial<Queue>;
  #nowMs = nowMs;
  readonly samples = new BacklogSamples(() => this.#nowMs);
  readonly outlooks = new BacklogOutlooks(this.samples, () => this.#nowMs);
  readonly consumers = [server({ heartbeatAt: ago(-3_600) })];
  enqueued = 0;
  /** `null` if not all blocked jobs were counted. */
  blocked: number | null = 0;

  constructor(settings: Partial<Queue> = {}) {
    this.settings = settings;
  }

  get queue(): Queue {
    const { enqueued } = this;
    return queue({ oldestEnqueuedAt: ago(100), ...this.settings, counts: { ...counts, enqueued } });
  }

  get blocking(): BlockingKeys {
    const exact = this.blocked !== null;
    if (this.blocked === 0) return noBlockingKeys;
    return {
      keys: [{ queue: 'q', key: 'k', blocked: { count: this.blocked ?? 20_000, exact }, details: null }],
      isComplete: exact,
    };
  }

  /** Lets time pass, each second of which begins with a change, and reads the queue each two seconds. */
  async pass(seconds: number, change: () => void): Promise<void> {
    const source = this.samples.sampling({
      find: async () => this.queue,
      list: async () => [this.queue],
      listBlockingKeys: async () => this.blocking,
    });
    for (let second = 0; second < seconds; second++) {
      change();
      this.#nowMs += 1_000;
      if (second % 2 === 1) await source.find('q');
      if (second % 5 === 0) await source.listBlockingKeys();
    }
  }

  get text(): string | null {
    const { text } = this.#outlook();
    return text === null ? null : read(text);
  }

  /** What is said of the jobs that no server takes. */
  get held(): string[] {
    const { stopped, held } = this.#outlook();
    return [...(stopped === null ? [] : [stopped]), ...held].map(read);
  }

  #outlook() {
    const { blocking, consumers } = this;
    return this.outlooks.of(this.queue, { consumers, blocking, pausedJobs: [] });
  }
}

describe('what a page says of a backlog', () => {
  it('is what was seen, the rate, and when the queue will be empty', async () => {
    const watched = new Watched();
    watched.enqueued = 2_000;
    await watched.pass(80, () => (watched.enqueued -= 6));
    expect(watched.text).to.match(
      /^Fell from 1,9\d\d at \d\d:\d\d to 1,520: drains in about 4 min at 6 ± [\d.]+\/s$/,
    );
  });

  it('is the rate of growth, never a time', async () => {
    const watched = new Watched();
    watched.enqueued = 1_000;
    await watched.pass(80, () => (watched.enqueued += 8));
    expect(watched.text).to.match(/^Rose from 1,0\d\d at \d\d:\d\d to 1,640: growing by 8 ± [\d.]+\/s$/);
  });

  it('is nothing at first, and nothing after the direction has changed', async () => {
    const watched = new Watched();
    watched.enqueued = 2_000;
    await watched.pass(20, () => (watched.enqueued += 9));
    expect(watched.text).to.equal(null);
    await watched.pass(60, () => (watched.enqueued += 9));
    expect(watched.text).to.include('growing');
    await watched.pass(14, () => (watched.enqueued -= 6));
    expect(watched.text).to.equal(null);
    await watched.pass(100, () => (watched.enqueued -= 6));
    expect(watched.text).to.include('drains');
  });

  it('begins anew when a server was added', async () => {
    const watched = new Watched();
    watched.enqueued = 2_000;
    await watched.pass(80, () => (watched.enqueued -= 6));
    watched.settings.servers = 2;
    await watched.pass(4, () => (watched.enqueued -= 12));
    expect(watched.text).to.equal(null);
  });

  for (const [what, settings, held] of [
    ['is paused', { pausedAt: ago(60), pausedUntil: ago(-3_600) }, /^1,520 paused until 2026-\S+ \S+ UTC$/],
    ['is paused without an end', { pausedAt: ago(60) }, /^1,520 paused$/],
  ] as const)
    it(`is only how many jobs there are if the queue ${what}`, async () => {
      const watched = new Watched(settings);
      watched.enqueued = 2_000;
      await watched.pass(80, () => (watched.enqueued -= 6));
      expect(watched.text).to.equal(null);
      expect(watched.held)
        .to.have.length(1)
        .and.to.satisfy(([text]: string[]) => held.test(text ?? ''));
    });

  it('is only how many jobs there are if no server takes them', async () => {
    const watched = new Watched();
    watched.consumers.length = 0;
    watched.enqueued = 2_000;
    await watched.pass(80, () => (watched.enqueued -= 6));
    expect([watched.text, watched.held]).to.deep.equal([null, ['1,520 without a server']]);
  });

  it('is nothing if the queue has jobs of a paused type', async () => {
    const watched = new Watched();
    watched.enqueued = 2_000;
    await watched.pass(80, () => (watched.enqueued -= 6));
    const pause = { pausedAt: ago(60), pausedBy: null, pauseReason: null, pausedUntil: null };
    const type = { ...pause, name: 'send-mail', jobs: { count: 200, exact: false }, queues: ['q'] };
    const { consumers, blocking } = watched;
    const { text, held } = watched.outlooks.of(watched.queue, { consumers, blocking, pausedJobs: [type] });
    expect([text, held.map(read)]).to.deep.equal([null, ['at least 200 jobs of paused type “send-mail”']]);
  });

  it('leaves out jobs that a key blocks, and names them', async () => {
    const watched = new Watched();
    watched.enqueued = 4_883;
    watched.blocked = 2_883;
    await watched.pass(95, () => (watched.enqueued -= 6));
    expect(watched.text).to.match(/^Fell from 1,9\d\d at \S+ to 1,4\d\d: drains in about 4 min/);
    expect(watched.held).to.deep.equal(['2,883 blocked by keys']);
  });

  it('is nothing while it is unknown how many jobs are blocked', async () => {
    const watched = new Watched();
    watched.enqueued = 40_000;
    watched.blocked = null;
    await watched.pass(95, () => (watched.enqueued -= 6));
    expect([watched.text, watched.held]).to.deep.equal([null, ['at least 20,000 blocked by keys']]);
  });
});

describe('the trend of a queue that is flooded with jobs of one key', () => {
  it('is that of the ready jobs, whose number is never read as such', async () => {
    const wrong: string[] = [];
    let statements = 0;
    for (let seed = 0; seed < 150; seed++) {
      const random = new Random(seed);
      const watched = new Watched();
      const [arrivals, taken, flood] = [random.integer(0, 40), random.integer(0, 40), random.integer(0, 60)];
      watched.enqueued = random.integer(500, 20_000);
      for (let round = 0; round < 30; round++) {
        await watched.pass(10, () => {
          const blocked = random.poisson(round < 12 ? flood : 0);
          watched.blocked = (watched.blocked ?? 0) + blocked;
          watched.enqueued += blocked + random.poisson(arrivals);
          const ready = watched.enqueued - watched.blocked;
          watched.enqueued -= Math.min(ready, random.poisson(taken));
        });
        const [, word, rate, off] =
          /(growing|shrinking|drains).* (?:by|at) (\S+) ± (\S+?)(?: per min|\/s)$/.exec(watched.text ?? '') ??
          [];
        if (word === undefined) continue;
        statements++;
        const perSecond =
          (Number(rate) * (word === 'growing' ? 1 : -1)) / (watched.text?.endsWith('min') ? 60 : 1);
        const uncertainty = Number(off) / (watched.text?.endsWith('min') ? 60 : 1);
        if (Math.abs(perSecond - (arrivals - taken)) > uncertainty + 1e-9)
          wrong.push(`${seed}: ${watched.text}, but ${arrivals} − ${taken}`);
      }
    }
    expect(wrong).to.deep.equal([]);
    expect(statements).to.be.greaterThan(500);
  });
});

describe('the pages of a queue that drains', () => {
  /** Shows the pages while the queue “images” drains for a minute by 6 jobs/s, taken by slots that are always busy. */
  const draining = async (
    first: number,
    judge: (get: (path: string) => Promise<string>) => Promise<void>,
  ) => {
    let enqueued = first;
    const site = await openSite({
      read: ({ storage }) => {
        const drained = (each: Queue): Queue =>
          each.name === 'images' ? { ...each, counts: { ...each.counts, enqueued } } : each;
        return overriding(storage, {
          timings: {
            read: async (query: TimingQuery) => {
              const buckets = await storage.timings.read(query);
              const servers = (await storage.servers.list()).filter(({ queues }) =>
                queues.includes('images'),
              );
              const slots = servers.reduce((sum, { concurrency }) => sum + concurrency, 0);
              const begin = buckets.at(-2)?.at.getTime() ?? 0;
              for (let second = 0; begin + second * 1_000 < storage.manualClock.now(); second++)
                for (let job = 0; job < 6; job++)
                  buckets.at(second < 60 ? -2 : -1)?.timing.running.add((1_000 * slots) / 6);
              return buckets;
            },
          },
          queues: {
            find: async (name: string) => {
              const found = await storage.queues.find(name);
              return found === null ? null : drained(found);
            },
            list: async () => (await storage.queues.list()).map(drained),
          },
        });
      },
    });
    const get = async (path: string): Promise<string> =>
      textOf((await site.http.get(`/job-dashboard${path}`)).text);
    try {
      for (let step = 0; step < 30; step++) {
        await get('/queues/images');
        site.story.storage.manualClock.advance(2_000);
        enqueued -= 12;
      }
      await judge(get);
    } finally {
      await site.close();
    }
  };

  it('say when it will be empty: its page, the chart of its backlog, the list and the overview', () =>
    draining(2_000, async (get) => {
      const page = await get('/queues/images');
      expect(page).not.to.include('more slot');
      expect(page).to.match(
        /Fell from 2,000 at \d\d:\d\d to 1,640: drains in about 4 min 30 s at 6 ± [\d.]+\/s/,
      );
      expect(page).to.match(/Backlog .*Drains in about 4 min 30 s/);
      expect(await get('/queues')).to.match(/images drains in about 4 min 30 s at 6 ± [\d.]+\/s .*1,640/);
      expect(await get('/')).to.match(/images drains in about 4 min 30 s at 6 ± [\d.]+\/s .*1,640/);
    }));

  it('say how many more slots would drain it soon', () =>
    draining(6_000, async (get) => {
      const shown = await get('/queues/images');
      expect(/Fell.{0,300}/.exec(shown)?.[0]).to.match(
        /to 5,640: drains in about 16 min at 6 ± [\d.]+\/s\. \d+ more slots \(now \d+\) would drain it in about [89] min( 30 s)? at \S+ ± \S+\/s\./,
      );
    }));
});

describe('the page of a paused queue', () => {
  it('names its jobs and when the pause ends, and estimates nothing', async () => {
    const site = await openSite();
    const { storage } = site.story;
    try {
      const until = new Date(storage.manualClock.now() + 3_600_000);
      await storage.queues.pause('images', { by: 'ann', until });
      for (let step = 0; step < 30; step++) {
        await site.http.get('/job-dashboard/queues/images');
        storage.manualClock.advance(2_000);
        await storage.add({ name: 'resize-image', queue: 'images' });
      }
      storage.timings.store();
      const page = textOf((await site.http.get('/job-dashboard/queues/images')).text);
      expect(page).to.match(/Backlog .*\d+ paused until \d\d:\d\d UTC/);
      expect(page).not.to.match(/growing|drains/i);
    } finally {
      await site.close();
    }
  });
});
