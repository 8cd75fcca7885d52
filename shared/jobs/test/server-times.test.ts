import { eventually, ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import {
  defineJob,
  handleJob,
  JobClient,
  JobServer,
  type JobServerOptions,
  MemoryStorage,
} from '../src/index.js';
import type { NotificationListener } from '../src/storage/notification.js';
import { Background } from '../src/server/background.js';
import { Fetcher } from '../src/server/fetcher.js';
import { Holdings } from '../src/server/holdings.js';
import { silentLogger } from '../src/server/logger.js';
import { resolveServerOptions } from '../src/server/server-options.js';

/** Counts when a server polls, and records the lengths of the leases that it claims and renews. */
class RecordingStorage extends MemoryStorage {
  polls = 0;
  override notificationsArrive = true;
  readonly claimedForMs: number[] = [];
  readonly renewedForMs: number[] = [];
  #listener: NotificationListener = () => false;

  constructor() {
    super();
    const findReady = this.claims.findReady.bind(this.claims);
    const claim = this.claims.claim.bind(this.claims);
    const renew = this.claims.renew.bind(this.claims);
    this.claims.findReady = (...request) => {
      this.polls++;
      return findReady(...request);
    };
    this.claims.claim = (request) => {
      this.claimedForMs.push(request.leaseMs);
      return claim(request);
    };
    this.claims.renew = (claims, leaseMs) => {
      this.renewedForMs.push(leaseMs);
      return renew(claims, leaseMs);
    };
  }

  /** Notifies the server of a job in this queue. */
  notify(queue: string): void {
    this.#listener({ kind: 'ready', queue });
  }

  override onNotification(listener: NotificationListener): () => void {
    this.#listener = listener;
    return () => undefined;
  }
}

describe('The times of a job server', () => {
  const held = defineJob({ name: 'held' });
  let storage: RecordingStorage;
  let server: JobServer;
  let release: () => void;

  async function start(options: Partial<JobServerOptions>): Promise<void> {
    storage = new RecordingStorage();
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    server = new JobServer({ storage, handlers: [handleJob(held, () => released)], ...options });
    await server.start();
    await polled(1);
  }

  async function polled(times: number): Promise<void> {
    await eventually(
      () => storage.polls,
      (polls) => polls >= times,
    );
  }

  afterEach(async () => {
    release();
    await server.stop();
  });

  it('queuePollIntervalMs = 0: claims from a queue when notified of a job there', async () => {
    await start({ queuePollIntervalMs: 0, queues: ['other', 'default'] });
    storage.notify('default');
    await eventually(
      () => storage.claimedForMs.length,
      (claims) => claims === 1,
    );
  });

  it('queuePollIntervalMs above 0: does not claim earlier when notified of a job', async () => {
    await start({ queuePollIntervalMs: 60_000 });
    storage.notify('default');
    expect(storage.claimedForMs).to.have.lengthOf(0);
  });

  for (const queuePollIntervalMs of [0, 70])
    it(`queuePollIntervalMs = ${queuePollIntervalMs}: polls again without a notification`, async () => {
      await start({ queuePollIntervalMs });
      await polled(2);
    });

  it('slidingInvisibilityTimeoutMs: is the length of a lease, also when it is renewed', async () => {
    await start({ slidingInvisibilityTimeoutMs: 1_000 });
    await new JobClient(storage).enqueue(held, {});
    storage.notify('default');
    await eventually(
      () => storage.renewedForMs.length,
      (renewals) => renewals > 0,
    );
    expect([storage.claimedForMs[0], storage.renewedForMs[0]]).to.deep.equal([1_000, 1_000]);
  });

  it('serverTimeoutMs: is the silence after which the server is declared dead', async () => {
    await start({ serverTimeoutMs: 1_234_567 });
    expect((await storage.servers.list())[0]?.timeoutMs).to.equal(1_234_567);
  });
});

describe('The time until a server polls again', () => {
  let clock: ManualClock;
  let polls: number;

  function fetcher(queuePollIntervalMs: number, isNotified = true): Fetcher {
    const storage = new MemoryStorage();
    storage.claims.findReady = async () => {
      polls++;
      return [];
    };
    storage.claims.claim = async () => [];
    const holdings = new Holdings(storage.claims, silentLogger);
    holdings.serverId = 'server';
    return new Fetcher({
      ...resolveServerOptions({ storage, handlers: [], queuePollIntervalMs }),
      storage: { claims: storage.claims, notificationsArrive: isNotified },
      holdings,
      runner: { take: () => undefined, takeWaiting: () => [] },
      isPaused: () => false,
      now: clock.now,
    });
  }

  beforeEach(() => {
    clock = new ManualClock();
    polls = 0;
  });

  for (const [queuePollIntervalMs, notified, everyMs] of [
    [0, true, 2_000],
    [0, false, 200],
    [70, true, 70],
    [70, false, 70],
  ] as const)
    it(`queuePollIntervalMs = ${queuePollIntervalMs}: is ${everyMs} ms while notifications ${notified ? 'arrive' : 'do not arrive'}`, async () => {
      const fetching = fetcher(queuePollIntervalMs, notified);
      expect(await fetching.runOnce()).to.equal(everyMs);
      clock.advance(everyMs);
      expect([await fetching.runOnce(), polls]).to.deep.equal([everyMs, 2]);
      clock.advance(everyMs - 6); // timers can fire up to 5 ms early
      await fetching.runOnce();
      expect(polls).to.equal(2);
    });

  it('queuePollIntervalMs = 0: is 200 ms after a notification, whatever it led to', async () => {
    const fetching = fetcher(0);
    await fetching.runOnce();
    clock.advance(1_000);
    fetching.notified('default');
    expect([await fetching.runOnce(), polls]).to.deep.equal([200, 1]);
    clock.advance(200);
    await fetching.runOnce();
    expect(polls).to.equal(2);
  });
});

describe('The renewal of leases', () => {
  it('takes place five times in the length of a lease', async () => {
    const renewedForMs: number[] = [];
    const storage = new MemoryStorage();
    storage.claims.renew = async (_, leaseMs) => {
      renewedForMs.push(leaseMs);
      return [];
    };
    const holdings = new Holdings(storage.claims, silentLogger);
    const claim = { jobId: 'job', queue: 'default', serverId: 'server', attempt: 1 };
    holdings.unwritten.add({ claim, outcome: { kind: 'snooze', delayMs: 1 } });
    const background = new Background({
      ...resolveServerOptions({ storage, handlers: [], slidingInvisibilityTimeoutMs: 1_000 }),
      holdings,
      runner: { cancel: () => [] },
      fetcher: { trim: async () => 0 },
      isPaused: () => false,
      onLost: () => undefined,
      onRescue: () => undefined,
    });
    expect([await background.run('leases'), renewedForMs]).to.deep.equal([200, [1_000]]);
  });
});
