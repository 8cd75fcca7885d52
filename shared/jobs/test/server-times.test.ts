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

/** Notes when it is asked for jobs, and when claims are renewed. */
class NotingStorage extends MemoryStorage {
  readonly claimed: { readonly atMs: number; readonly leaseMs: number }[] = [];
  readonly renewals: { readonly atMs: number; readonly leaseMs: number }[] = [];
  /** Notifies the server of a job in this queue. */
  notify: (queue: string | null) => void = () => undefined;

  constructor() {
    super();
    const claim = this.claims.claim.bind(this.claims);
    const renew = this.claims.renew.bind(this.claims);
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

/** Timers may fire this much before their time. */
const earlyMs = 5;

describe('The times of a job server', () => {
  const held = defineJob({ name: 'held' });
  let storage: NotingStorage;
  let server: JobServer;
  let release: () => void;

  async function start(options: Partial<JobServerOptions>): Promise<void> {
    storage = new NotingStorage();
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    server = new JobServer({ storage, handlers: [handleJob(held, () => released)], ...options });
    await server.start();
    await eventually(() => storage.claimed.length === 1);
  }

  afterEach(async () => {
    release();
    await server.stop();
  });

  it('queuePollIntervalMs = 0: polls when notified of a job', async () => {
    await start({ queuePollIntervalMs: 0 });
    storage.notify('default');
    expect(storage.claimed).to.have.lengthOf(2);
  });

  it('queuePollIntervalMs above 0: does not poll earlier when notified of a job', async () => {
    await start({ queuePollIntervalMs: 60_000 });
    storage.notify('default');
    expect(storage.claimed).to.have.lengthOf(1);
  });

  for (const [queuePollIntervalMs, everyMs] of [
    [0, 200],
    [70, 70],
  ] as const) {
    it(`queuePollIntervalMs = ${queuePollIntervalMs}: polls every ${everyMs} ms, notified or not`, async () => {
      await start({ queuePollIntervalMs });
      await eventually(() => storage.claimed.length === 3);
      const [, second, third] = storage.claimed;
      expect((third?.atMs ?? 0) - (second?.atMs ?? 0)).to.be.at.least(everyMs - earlyMs);
    });
  }

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
