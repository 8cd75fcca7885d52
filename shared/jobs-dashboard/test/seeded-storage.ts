import { Cache } from '../src/cache/cache.js';
import { checkWarnings } from '../src/diagnosis/health.js';
import { observedWarnings } from '../src/diagnosis/warning.js';
import { type JsonValue, MemoryStorage } from '@longshore/jobs';
import { type ClaimedJob, newId, type NewJob, type Outcome, waitOf } from '@longshore/jobs/storage';
import type { ManualClock } from '@longshore/test-support';

/**
 * Timeout of servers and leases while a storage is being seeded, in milliseconds. Long enough that they do not expire
 * when seeding advances the clock in large steps.
 */
export const SEED_TIMEOUT_MS = 24 * 3_600_000;

interface NewJobText {
  name: string;
  queue?: string;
  args?: JsonValue;
  maxAttempts?: number;
  inMs?: number;
  tags?: string[];
  /** The id of a job that must succeed before this job can run. */
  after?: string;
}

/** Memory storage with a manual clock, so that all seeded times are the same in every run. */
export class SeededStorage extends MemoryStorage {
  readonly manualClock: ManualClock;
  #leasesEndAt: Date | undefined;
  /** When each job was last started, in milliseconds since 1970, by job id. */
  readonly #started = new Map<string, number>();

  constructor(clock: ManualClock) {
    super({ clock });
    this.manualClock = clock;
    this.#keepServersAlive();
    this.#keepLeases();
  }

  /** Makes servers appear to have sent a heartbeat a few seconds ago, however far the clock has been advanced. */
  #keepServersAlive(): void {
    const list = this.servers.list.bind(this.servers);
    this.servers.list = async () =>
      (await list()).map((server, index) => ({
        ...server,
        timeoutMs: 30_000,
        heartbeatAt: new Date(this.manualClock.now() - 2_000 - 1_500 * index),
      }));
  }

  /** Makes leases appear freshly renewed. They expire 28 seconds after the first read of a lease. */
  #keepLeases(): void {
    const find = this.leases.find.bind(this.leases);
    this.leases.find = async (job) => {
      const lease = await find(job);
      this.#leasesEndAt ??= new Date(this.manualClock.now() + 28_000);
      return lease && { ...lease, expiresAt: this.#leasesEndAt };
    };
  }

  async add(text: NewJobText): Promise<string> {
    const job = this.order(text);
    await this.enqueuer.enqueue([job]);
    this.manualClock.advance(1);
    return job.id;
  }

  /** Records the current warnings, as the check of a dashboard does. Returns the latest incident. */
  async recordWarnings(): Promise<string> {
    const { now } = this.manualClock;
    const context = { reader: this, cache: new Cache(0, now), now, machineNow: now };
    const { found, nowMs } = await checkWarnings(context, SEED_TIMEOUT_MS);
    await this.incidents.observe(observedWarnings(found, nowMs));
    const [incident] = await this.incidents.list({ isActive: true, limit: 1 });
    return incident?.id ?? '';
  }

  /** Creates a job without enqueueing it. */
  order({ name, queue = 'default', args = {}, maxAttempts = 10, inMs, tags, after }: NewJobText): NewJob {
    const due = inMs === undefined ? null : { inMs };
    const meta = {
      ...(tags === undefined ? {} : { tags }),
      ...(after === undefined ? {} : { parentIds: [after] }),
    };
    return {
      id: newId(this.manualClock.now()),
      name,
      queue,
      priority: 0,
      args: JSON.stringify(args),
      maxAttempts,
      due,
      meta,
      ...(after === undefined ? {} : { after: { parents: [after], when: 'onDone' as const } }),
    };
  }

  async start(serverId: string, queue: string): Promise<ClaimedJob> {
    const [claimed] = await this.claims.claim({ serverId, queue, limit: 1, leaseMs: SEED_TIMEOUT_MS });
    if (claimed === undefined) throw new Error(`Nothing to claim in ${queue}`);
    const startedAt = this.manualClock.now();
    this.#started.set(claimed.claim.jobId, startedAt);
    this.timings.started(queue, claimed.name, waitOf(claimed, startedAt));
    return claimed;
  }

  async end({ claim, name }: ClaimedJob, outcome: Outcome): Promise<void> {
    const now = this.manualClock.now();
    this.timings.ended(claim.queue, name, outcome.kind, now - (this.#started.get(claim.jobId) ?? now));
    this.timings.store();
    await this.completions.complete([{ claim, outcome }]);
  }
}
