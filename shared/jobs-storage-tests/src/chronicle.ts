import type { Batch, Job, JobState, JobStorage } from '@longshore/jobs';
import { type After, type Claim, isFinished, type NewJob } from '@longshore/jobs/storage';

/** What is known about an accepted job from the answers of the storage. */
interface KnownJob {
  readonly batchId: string | undefined;
  readonly after: After | null;
  /** Whether a cancellation of the job was acknowledged, and nobody has retried the job since. */
  cancelled: boolean;
  /** Whether an operator has made the job ready without waiting for its parents. */
  isFree: boolean;
  /** How the job had ended when it was deleted; `null` if it exists. */
  deletedAs: JobState | null;
}

interface KnownBatch {
  readonly jobs: readonly string[];
}

/**
 * Records what the storage has accepted and acknowledged, whatever it has done about it by then. Knows what must not
 * happen afterwards, and what must hold at rest.
 */
export class Chronicle {
  readonly jobs = new Map<string, KnownJob>();
  readonly batches = new Map<string, KnownBatch>();
  readonly claims: Claim[] = [];
  /** Jobs that were retried by the actions that go on at the moment, in whatever order these took effect. */
  readonly #retried = new Set<string>();
  readonly #starts: { readonly id: string; readonly forbidden: ReadonlySet<string> }[] = [];

  get ids(): string[] {
    return [...this.jobs.keys()];
  }

  /** Ids that a job can depend on. */
  get parents(): string[] {
    return [...this.jobs.keys(), ...this.batches.keys()];
  }

  /** Records jobs before they are enqueued, because one may start before its enqueuer gets an answer. */
  offered(jobs: readonly NewJob[], batchId?: string): void {
    for (const { id, after = null } of jobs)
      this.jobs.set(id, { batchId, after, cancelled: false, isFree: false, deletedAs: null });
  }

  offeredBatch(id: string, jobs: readonly NewJob[]): void {
    this.offered(jobs, id);
    this.batches.set(id, { jobs: jobs.map((job) => job.id) });
  }

  refused(jobs: readonly NewJob[], batchId = ''): void {
    for (const { id } of jobs) this.jobs.delete(id);
    this.batches.delete(batchId);
  }

  cancelled(id: string): void {
    const job = this.jobs.get(id);
    if (job !== undefined && !this.#retried.has(id)) job.cancelled = true;
  }

  retried(id: string): void {
    this.#retried.add(id);
    const job = this.jobs.get(id);
    if (job !== undefined) job.cancelled = false;
  }

  freed(id: string): void {
    const job = this.jobs.get(id);
    if (job !== undefined) job.isFree = true;
  }

  deleted(id: string, state: JobState): void {
    const job = this.jobs.get(id);
    if (job !== undefined) job.deletedAs = state;
  }

  /** Returns the ids of jobs that must not start unless somebody retries them. */
  mustNotStart(): ReadonlySet<string> {
    return new Set([...this.jobs].filter(([, { cancelled }]) => cancelled).map(([id]) => id));
  }

  /** @param forbidden the result of {@link mustNotStart} before the claim was made */
  started(id: string, forbidden: ReadonlySet<string>): void {
    this.#starts.push({ id, forbidden });
  }

  /**
   * Checks the jobs that have started, now that the actions of the same time have ended: one of these may have allowed
   * the start.
   *
   * @throws {Error} if a job must not have started
   */
  async actionsEnded(storage: JobStorage): Promise<void> {
    this.#retried.clear();
    for (const { id, forbidden } of this.#starts.splice(0)) {
      const job = this.jobs.get(id);
      if (job === undefined) throw new Error(`${id} started, but was not accepted`);
      if (forbidden.has(id) && job.cancelled)
        throw new Error(`${id} started after its cancellation was acknowledged`);
      if (job.isFree || job.after?.when !== 'onDone') continue;
      for (const parent of job.after.parents) {
        if (!(await this.#isDone(storage, parent)))
          throw new Error(`${id} started although ${parent} is not done`);
      }
    }
  }

  async #isDone(storage: JobStorage, parent: string): Promise<boolean> {
    if (this.jobs.get(parent)?.deletedAs === 'done') return true;
    const job = await storage.jobs.find(parent);
    if (job !== null) return job.state === 'done';
    const batch = await storage.batches.find(parent);
    return batch !== null && batch.finishedAt !== null && batch.done === batch.total;
  }

  /** Returns a description of everything in the storage that contradicts what was accepted and acknowledged. */
  async contradictions(storage: JobStorage, queues: readonly string[]): Promise<string[]> {
    const listed = await Promise.all(
      queues.map((queue) => storage.jobs.list({ filter: { queue: [queue] }, limit: 1_000 })),
    );
    const found = new Map(listed.flat().map((job) => [job.id, job]));
    const batches = await Promise.all([...this.batches.keys()].map((id) => storage.batches.find(id)));
    return [
      ...[...this.jobs].flatMap(([id, job]) => this.#contradictionOf(id, job, found)),
      ...batches.flatMap((batch) => this.#miscounted(batch, found)),
      ...(await miscountedQueues(storage, queues, listed)),
    ];
  }

  #contradictionOf(id: string, known: KnownJob, found: ReadonlyMap<string, Job>): string[] {
    const job = found.get(id);
    if (job === undefined) return known.deletedAs === null ? [`${id} was accepted and does not exist`] : [];
    if (known.deletedAs !== null) return [`${id} was deleted and exists`];
    if (known.cancelled && !['cancelled', 'done', 'failed', 'processing'].includes(job.state))
      return [`${id} is ${job.state} although its cancellation was acknowledged`];
    if (job.state === 'awaiting' && !this.#isAwaiting(known, found)) return [`${id} waits for nothing`];
    return [];
  }

  /** Returns whether one of the job's parents is unfinished. */
  #isAwaiting({ after }: KnownJob, found: ReadonlyMap<string, Job>): boolean {
    const members = (after?.parents ?? []).flatMap((id) => this.batches.get(id)?.jobs ?? [id]);
    return members.some((id) => {
      const job = found.get(id);
      return job !== undefined && !isFinished(job.state);
    });
  }

  #miscounted(batch: Batch | null, found: ReadonlyMap<string, Job>): string[] {
    if (batch === null) return ['a batch was accepted and does not exist'];
    const { jobs = [] } = this.batches.get(batch.id) ?? {};
    const states = jobs.map((id) => this.jobs.get(id)?.deletedAs ?? found.get(id)?.state);
    const countOf = (state: JobState): number => states.filter((each) => each === state).length;
    const { id, total, done, failed, cancelled } = batch;
    const counts = [total, done, failed, cancelled].join();
    const real = [states.length, countOf('done'), countOf('failed'), countOf('cancelled')].join();
    if (counts !== real) return [`batch ${id} counts ${counts} instead of ${real}`];
    const hasEnded = states.every((state) => state !== undefined && isFinished(state));
    return hasEnded === (batch.finishedAt !== null)
      ? []
      : [`batch ${id} ${hasEnded ? 'is open' : 'has ended'}`];
  }
}

async function miscountedQueues(
  storage: JobStorage,
  queues: readonly string[],
  listed: readonly (readonly Job[])[],
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [index, queue] of queues.entries()) {
    const counts = (await storage.queues.find(queue))?.counts ?? {};
    const jobs = listed[index] ?? [];
    for (const [state, count] of Object.entries(counts)) {
      const real = jobs.filter((job) => job.state === state).length;
      if (real !== count) wrong.push(`${queue} counts ${String(count)} ${state} jobs instead of ${real}`);
    }
  }
  return wrong;
}
