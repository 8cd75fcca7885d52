import fc from 'fast-check';
import { eventually } from '@longshore/test-support';
import { after, afterEach, before } from 'mocha';
import type { Job, JobStorage } from '@longshore/jobs';
import {
  type Claim,
  type ClaimedJob,
  newId,
  type NewJob,
  type ServerRegistration,
} from '@longshore/jobs/storage';

/** Longer than any test takes, in milliseconds: the length of leases, and of anything else that must not end in a test. */
export const hourMs = 3_600_000;

/** A delay after which nothing becomes due while the tests run, in milliseconds. */
export const yearMs = 365 * 24 * hourMs;

/**
 * How often a property of a storage is tried with random sequences. The search for the shortest sequence that fails ends
 * after ten minutes, so that the test reports what it has found before its own time runs out. Each run of CI tries ten
 * sequences on each kind of storage, and others each time.
 */
export const propertyRuns = {
  numRuns: 10,
  plugins: [fc.interruptAfterTimeLimit(600_000, { failOnInterrupt: true })],
};

/** A storage to test, with operations that the suite needs but {@link JobStorage} lacks. */
export interface StorageUnderTest {
  /** An open storage, shared by the whole suite; each test uses its own queues. */
  readonly storage: JobStorage;
  /**
   * Makes a server's last heartbeat older than its timeout, which is at most {@link hourMs}. May do the same to all
   * other servers.
   */
  silence(serverId: string): Promise<void>;
  /** Sets when a recurring job is next due. `at` must be a time of the recurring job's schedule. */
  setNextDue(recurringJobId: string, at: Date): Promise<void>;
  /**
   * Returns a description of everything in the storage that must not be there at rest: after its background work has
   * found nothing left to do. A storage without tables has none.
   */
  violations?(): Promise<string[]>;
  /** Closes the storage. Called after the last test. */
  close(): Promise<void>;
}

/** Opens the storage before the first test, closes it after the last test, and provides common operations. */
export class Fixture {
  #subject: StorageUnderTest | undefined;
  readonly #registrations: ServerRegistration[] = [];
  #queues = 0;

  constructor(open: () => Promise<StorageUnderTest>) {
    before(async () => {
      this.#subject = await open();
    });
    afterEach(async () => {
      await Promise.all(this.#registrations.splice(0).map((registration) => registration.unregister()));
    });
    after(async () => {
      await this.#subject?.close();
    });
  }

  get storage(): JobStorage {
    return this.#opened.storage;
  }

  async silence(serverId: string): Promise<void> {
    await this.#opened.silence(serverId);
  }

  async setNextDue(recurringJobId: string, at: Date): Promise<void> {
    await this.#opened.setNextDue(recurringJobId, at);
  }

  async violations(): Promise<string[]> {
    return (await this.#opened.violations?.()) ?? [];
  }

  /** Returns the name of a queue that no other test uses. */
  newQueue(): string {
    return `queue-${++this.#queues}`;
  }

  async enqueue(queue: string, job: Partial<NewJob> = {}): Promise<NewJob> {
    const complete = { ...newJob(queue), ...job };
    await this.storage.enqueuer.enqueue([complete]);
    return complete;
  }

  /**
   * Registers a server and unregisters it after the test.
   *
   * @param jobNames the names of the jobs that the server can run; by default, it can run any job
   */
  async register(queue: string, jobNames?: readonly string[]): Promise<ServerRegistration> {
    const registration = await this.storage.servers.register({
      host: 'conformance',
      pid: process.pid,
      queues: [queue],
      concurrency: 5,
      timeoutMs: hourMs,
      ...(jobNames !== undefined && { jobNames }),
    });
    this.#registrations.push(registration);
    return registration;
  }

  /** Enqueues one job and claims it for a new server. */
  async claimOne(job: Partial<NewJob> = {}, leaseMs = hourMs): Promise<{ queue: string; claim: Claim }> {
    const queue = job.queue ?? this.newQueue();
    await this.enqueue(queue, job);
    const { id: serverId } = await this.register(queue);
    const [claimed] = await this.claim(serverId, queue, 1, leaseMs);
    if (claimed === undefined) throw new Error('The job that was just enqueued could not be claimed');
    return { queue, claim: claimed.claim };
  }

  async claim(serverId: string, queue: string, limit = 10, leaseMs = hourMs): Promise<ClaimedJob[]> {
    return this.storage.claims.claim({ serverId, queue, limit, leaseMs });
  }

  /** Claims at least one job, as soon as the storage returns any. */
  async claimSome(serverId: string, queue: string, limit = 10): Promise<[ClaimedJob, ...ClaimedJob[]]> {
    const [first, ...rest] = await eventually(
      () => this.claim(serverId, queue, limit),
      (jobs) => jobs.length > 0,
    );
    if (first === undefined) throw new Error('There was no job to claim');
    return [first, ...rest];
  }

  /** Resolves when the storage's clock is later than `at`, so that whatever happens next has a later time. */
  async untilAfter(at: Date | null | undefined): Promise<void> {
    const reached = at ?? (await this.storage.readClock());
    await eventually(
      () => this.storage.readClock(),
      (now) => now > reached,
    );
  }

  /** Makes scheduled jobs ready until this job is no longer scheduled. */
  async untilPromoted(id: string): Promise<void> {
    await eventually(
      async () => {
        await this.storage.maintenance.promoteDue(1_000);
        return (await this.storage.jobs.find(id))?.state;
      },
      (state) => state !== 'scheduled',
    );
  }

  /** Lists up to 1,000 jobs of a queue, newest first. */
  async jobsOf(queue: string): Promise<Job[]> {
    return this.storage.jobs.list({ filter: { queue: [queue] }, limit: 1_000 });
  }

  get #opened(): StorageUnderTest {
    if (this.#subject === undefined)
      throw new Error('The storage is opened before the first test, not earlier');
    return this.#subject;
  }
}

export function newJob(queue: string): NewJob {
  return { id: newId(), name: 'work', queue, priority: 0, args: '{"n":1}', maxAttempts: 10, due: null };
}

/** Moves a scheduled or ready job to another queue. */
export async function moveJob(storage: JobStorage, id: string, queue: string): Promise<void> {
  await storage.control.edit([id], async (current) => {
    const job = current.get(id);
    if (job === undefined) throw new Error(`There is no job ${id}`);
    return new Map([
      [id, { queue, priority: job.priority, args: JSON.stringify(job.args), runAt: job.runAt }],
    ]);
  });
}
