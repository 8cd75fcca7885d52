import type { Batch } from '../job/batch.js';
import type { Attempt, ClaimedJob, Job, JobError, JsonValue } from '../job/job.js';
import { readMeta } from '../job/meta.js';
import type { FinishedState, JobState } from '../job/state.js';
import type { JobStorage } from '../storage/storage.js';

/** A job that the running job waited for. */
export interface ParentJob<Result = JsonValue> {
  readonly kind: 'job';
  readonly id: string;
  readonly name: string;
  /** A finished state, unless the parent was retried since, or an operator ran this job regardless of its parents. */
  readonly state: JobState;
  /** The return value of its handler; `null` unless it is done. */
  readonly result: Result | null;
  /** Why it failed, was cancelled or was skipped; `null` if it is done. */
  readonly error: JobError | null;
}

/** A parent that is not stored any more, so that neither its end nor its result is known. */
export interface DeletedParent {
  readonly kind: 'deleted';
  readonly id: string;
  readonly name: null;
  readonly state: null;
  readonly result: null;
  readonly error: null;
}

/** A parent as plain data. */
export type StoredParent = ParentJob | DeletedParent | StoredBatch;

type StoredBatch = Readonly<Batch> & { readonly kind: 'batch' };

export interface BatchJobsQuery {
  readonly batchId: string;
  readonly state: FinishedState;
  /** Only jobs of this name; all if it is `null`. */
  readonly name: string | null;
  /** Only jobs that were created after the job with this id; all if it is `null`. */
  readonly after: string | null;
}

export interface BatchJobsPage {
  /** Oldest first. */
  readonly jobs: readonly Job[];
  readonly isLast: boolean;
}

/**
 * The reads of one attempt, on which `ContextReads` is built. They take and return plain data, so that a handler in a
 * thread can have the main thread read.
 */
export interface AttemptReader {
  /** Returns the parents of the job, in the order of `after.parents`. */
  parents(): Promise<readonly StoredParent[]>;
  /** Returns the first batch among the parents; `null` if none is stored. */
  batch(): Promise<StoredBatch | null>;
  batchJobs(query: BatchJobsQuery): Promise<BatchJobsPage>;
  /** Returns the attempts of the job, oldest first; empty, without a read, in a first attempt. */
  attempts(): Promise<readonly Attempt[]>;
}

/** Limits of one page of a batch's jobs: their number, and the size of their arguments and results in bytes. */
const page = { limit: 100, maxBytes: 4_000_000 };

/** Reads from the storage. */
export class StoredAttemptReader implements AttemptReader {
  readonly #store: Pick<JobStorage, 'jobs' | 'batches'>;
  readonly #job: Pick<ClaimedJob, 'claim' | 'meta'>;

  constructor(store: Pick<JobStorage, 'jobs' | 'batches'>, job: Pick<ClaimedJob, 'claim' | 'meta'>) {
    this.#store = store;
    this.#job = job;
  }

  async parents(): Promise<StoredParent[]> {
    const ids = this.#parentIds();
    if (ids.length === 0) return [];
    const jobs = byId(await this.#store.jobs.findMany(ids, { results: true }));
    const others = ids.filter((id) => !jobs.has(id)); // usually none
    const batches = byId(others.length === 0 ? [] : await this.#store.batches.findMany(others));
    return ids.map((id) => {
      const [job, batch] = [jobs.get(id), batches.get(id)];
      if (job !== undefined) return parentJob(job);
      if (batch !== undefined) return { ...batch, kind: 'batch' };
      return { kind: 'deleted', id, name: null, state: null, result: null, error: null };
    });
  }

  async batch(): Promise<StoredBatch | null> {
    const ids = this.#parentIds();
    if (ids.length === 0) return null;
    const batches = byId(await this.#store.batches.findMany(ids));
    const id = ids.find((parent) => batches.has(parent));
    const batch = id === undefined ? undefined : batches.get(id);
    return batch === undefined ? null : { ...batch, kind: 'batch' };
  }

  async batchJobs({ batchId, state, name, after }: BatchJobsQuery): Promise<BatchJobsPage> {
    const filter = { batchId: [batchId], state: [state], ...(name !== null && { name: [name] }) };
    const position = after === null ? {} : { after };
    const { jobs, cut } = await this.#store.jobs.listPage({ filter, order: 'oldest', ...page, ...position });
    return { jobs, isLast: !cut && jobs.length < page.limit };
  }

  async attempts(): Promise<Attempt[]> {
    const { jobId, attempt } = this.#job.claim;
    return attempt === 1 ? [] : this.#store.jobs.listAttempts(jobId);
  }

  #parentIds(): string[] {
    return readMeta(this.#job.meta).parentIds.map((id) => id.toLowerCase());
  }
}

function byId<Item extends { readonly id: string }>(items: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.id, item]));
}

function parentJob({ id, name, state, result, error }: Job): ParentJob {
  return { kind: 'job', id, name, state, result, error };
}
