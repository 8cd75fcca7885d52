import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import {
  defineJob,
  handleJob,
  JobClient,
  JobServer,
  type JobServerOptions,
  MemoryStorage,
} from '../src/index.js';

/** Records when a server polls, claims jobs and renews leases. */
class RecordingStorage extends MemoryStorage {
  readonly polledAtMs: number[] = [];
  override notificationsArrive = true;
  readonly claimed: { readonly atMs: number; readonly leaseMs: number }[] = [];
  readonly renewals: { readonly atMs: number; readonly leaseMs: number }[] = [];
  /** Notifies the server of a job in this queue; `null` stands for any queue. */
  notify: (queue: string | null) => void = () => undefined;

  constructor() {
    super();
    const findReady = this.claims.findReady.bind(this.claims);
    const claim = this.claims.claim.bind(this.claims);
    const renew = this.claims.renew.bind(this.claims);
    this.claims.findReady = (...request) => {
      this.polledAtMs.push(performance.now());
      return findReady(...request);
    };
    this.claims.claim = (request) => {
      this.claimed.push({ atMs: performance.now(), leaseMs: request.leaseMs });
      return claim(request);
    };
    this.claims.renew = (claims, leaseMs) => {
      this.renewals.push({ atMs: performance.now(), leaseMs });
      return renew(claims, leaseMs);
    };
  }

  override onNotification(listener: (queue: string | null) => void): () => void {
    this.notify = listener;
    return () => undefined;
  }
}

/** Tolerance for timers that fire early, in milliseconds. */
const earlyMs = 5;

describe('The times of a job server', () => {
  const held = defineJob({ name: 'held' });
  let storage: RecordingStorage;
  let server: JobServer;
  let release: () => void;

  async function start(options: Partial<JobServerOptions>, notificationsArrive = true): Promise<void> {
    storage = new RecordingStorage();
    storage.notificationsArrive = notificationsArrive;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    server = new JobServer({ storage, handlers: [handleJob(held, () => released)], ...options });
    await server.start();
    await eventually(() => storage.polledAtMs.length === 1);
  }

  afterEach(async () => {
    release();
    await server.stop();
  });

  it('queuePollIntervalMs = 0: claims from a queue when notified of a job there', async () => {
    await start({ queuePollIntervalMs: 0, queues: ['other', 'default'] });
    storage.notify('default');
    expect(storage.claimed).to.have.lengthOf(1);
  });

  it('queuePollIntervalMs above 0: does not claim earlier when notified of a job', async () => {
    await start({ queuePollIntervalMs: 60_000 });
    storage.notify('default');
    expect(storage.claimed).to.have.lengthOf(0);
  });

  for (const [queuePollIntervalMs, notified, everyMs] of [
    [0, true, 2_000],
    [0, false, 200],
    [70, true, 70],
  ] as const) {
    it(`queuePollIntervalMs = ${queuePollIntervalMs}: polls every ${everyMs} ms while notifications ${notified ? 'arrive' : 'do not arrive'}`, async () => {
      await start({ queuePollIntervalMs }, notified);
      await eventually(() => storage.polledAtMs.length === 2);
      const [first = 0, second = 0] = storage.polledAtMs;
      expect(second - first).to.be.within(everyMs - earlyMs, everyMs + 1_000);
    });
  }

  it('queuePollIntervalMs = 0: polls 200 ms after a notification, whatever it led to', async () => {
    await start({ queuePollIntervalMs: 0 });
    const notifiedAtMs = performance.now();
    storage.notify('default');
    await eventually(() => storage.polledAtMs.length === 2);
    expect((storage.polledAtMs[1] ?? 0) - notifiedAtMs).to.be.within(200 - earlyMs, 1_200);
  });

  it('slidingInvisibilityTimeoutMs: is the length of a lease, which is renewed at a fifth of it', async () => {
    await start({ slidingInvisibilityTimeoutMs: 1_000 });
    await new JobClient(storage).enqueue(held, {});
    storage.notify('default');
    await eventually(() => storage.renewals.length === 2);
    const [first, second] = storage.renewals;
    expect(storage.claimed[0]?.leaseMs).to.equal(1_000);
    expect(first?.leaseMs).to.equal(1_000);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).to.be.at.least(200 - earlyMs);
  });

  it('serverTimeoutMs: is the silence after which the server is declared dead', async () => {
    await start({ serverTimeoutMs: 7_000 });
    expect((await storage.servers.list())[0]?.timeoutMs).to.equal(7_000);
  });
});
