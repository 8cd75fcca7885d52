import { mapInSlices, parseUuid } from '@longshore/edge';
import {
  type ContinuationCondition,
  type EnqueuedBatch,
  type EnqueuedJob,
  type EnqueueRequest,
  type JobClient,
  type JobStorage,
  type TransactionClient,
  UnknownParentError,
} from '@longshore/jobs';
import { EnqueuedJobDetails } from '@longshore/jobs/storage';
import { apiError, type CallContext, Existing, type Problem, type UncheckedBody } from '@longshore/resources';
import type { Static } from 'typebox';
import { type EnqueueRequests, problemsOf, withApiErrors, withEnqueueRequests } from './enqueue-requests.js';
import { maxJobs } from './fields.js';
import { type JobItem, type NewJobItem, toJobItem } from './job-item.js';
import type { Backlog, CallerQuotas } from './quotas.js';

type Item = Static<typeof JobItem>;
type NewJobBody = Static<typeof NewJobItem>;

/** The queues that a caller may see; `null` for all. */
type Scope = CallContext['rowScope'];

/** How many parents are looked up in a request that is rejected anyway. */
const maxLookedUp = 100;

/** The caller on whose behalf jobs are enqueued, and the transaction, if there is one. */
interface Caller extends Pick<CallContext, 'caller' | 'rowScope'> {
  readonly transaction?: TransactionClient;
}

export interface NewBatchBody {
  readonly name?: string;
  readonly jobs: readonly NewJobBody[];
  readonly callback?: NewJobBody;
  readonly callbackWhen?: ContinuationCondition;
}

/** Enqueues the jobs described by request bodies. */
export class JobEnqueuer {
  readonly #client: JobClient;
  readonly #storage: Pick<JobStorage, 'jobs' | 'batches'>;
  readonly #requests: EnqueueRequests;
  readonly #backlog: Backlog;
  readonly #quotas: CallerQuotas;

  constructor(
    client: JobClient,
    storage: Pick<JobStorage, 'jobs' | 'batches'>,
    requests: EnqueueRequests,
    backlog: Backlog,
    quotas: CallerQuotas,
  ) {
    this.#client = client;
    this.#storage = storage;
    this.#requests = requests;
    this.#backlog = backlog;
    this.#quotas = quotas;
  }

  /**
   * Enqueues a job and returns it, or returns the existing job with the same key.
   *
   * @throws {ApiError} 422 if the platform rejects the job, 42901 if the queue is full, 40901 if the existing job is
   *   deleted while this call runs
   * @throws {KeyHolderHiddenError} if the existing job was deleted before this call, or the caller may not see it
   * @throws {DuplicateJobError} if another job holds the unique key and `onConflict` is `reject`
   * @throws {IdempotencyConflictError} if the idempotency key was used for a different request
   */
  async one(body: NewJobBody, caller: Caller): Promise<Item | Existing<Item>> {
    const request = this.#requests.requestOf(body);
    await this.#admit([request], caller);
    const { transaction } = caller;
    const { definition, args, options } = requiringVisibleExisting(request, caller.rowScope);
    const enqueued = await withApiErrors(() =>
      this.#client.enqueue(definition, args, { ...options, ...(transaction && { transaction }) }),
    );
    const item = storedItem(enqueued) ?? (await this.#foundItem(enqueued.id, transaction));
    return enqueued.created ? item : new Existing(item);
  }

  /** Returns what is wrong with the names, arguments and parents of jobs whose bodies may break the schema. */
  async problems(
    bodies: readonly UncheckedBody[],
    { rowScope }: Pick<CallContext, 'rowScope'>,
  ): Promise<readonly Problem[]> {
    const [ofRequests, unknown] = await Promise.all([
      this.#requests.problems(bodies),
      this.#unknownParents(bodies, rowScope),
    ]);
    return [...ofRequests, ...unknown];
  }

  /** Returns a problem for each parent that does not exist for the caller. Looks up a limited number of parents. */
  async #unknownParents(bodies: readonly UncheckedBody[], scope: Scope): Promise<Problem[]> {
    const named = bodies.flatMap(({ body, at }) => parentsIn(body).map((id) => ({ id, at })));
    const ids = [...new Set(named.map(({ id }) => id))].slice(0, maxLookedUp);
    if (ids.length === 0) return [];
    const filter = { id: ids, ...(scope !== null && { queue: scope }) };
    const jobs = await this.#storage.jobs.list({ filter, limit: ids.length });
    const knownIds = new Set(jobs.map(({ id }) => id));
    const batchIds = scope === null ? ids.filter((id) => !knownIds.has(id)) : [];
    const batches = await Promise.all(batchIds.map((id) => this.#storage.batches.find(id)));
    for (const batch of batches) if (batch !== null) knownIds.add(batch.id);
    const unknown = new Set(ids.filter((id) => !knownIds.has(id)));
    return named
      .filter(({ id }) => unknown.has(id))
      .flatMap(({ id, at }) => problemsOf(new UnknownParentError(id), at));
  }

  /** Enqueues all jobs or none. Throws like {@link one}. */
  async many(bodies: readonly NewJobBody[], caller: Caller): Promise<Item[]> {
    const { rowScope: scope, transaction } = caller;
    if (bodies.length > maxJobs) throw apiError(42202, `the body must have at most ${maxJobs} jobs`);
    const enqueued = await withEnqueueRequests(bodies, this.#requests, async (requests) => {
      await this.#admit(requests, caller);
      const scoped = await mapInSlices(requests, (request) => requiringVisibleExisting(request, scope));
      return this.#client.enqueueMany(scoped, transaction);
    });
    // If several entries have the same key and one of them creates a job, the result has the new job for each of them.
    const created = new Map(enqueued.filter((job) => job.created).map((job) => [job.id, job]));
    const items = await mapInSlices(enqueued, (job) => storedItem(created.get(job.id) ?? job));
    const existing = (index: number): Promise<Item> =>
      this.#foundItem(enqueued[index]?.id ?? '', transaction);
    return Promise.all(items.map(async (item, index) => item ?? existing(index)));
  }

  /**
   * Enqueues a batch with all of its jobs, or nothing.
   * @throws {ApiError} 422 if the platform rejects a job, 42901 if a queue is full
   */
  async batch({ jobs, callback, ...rest }: NewBatchBody, caller: Caller): Promise<EnqueuedBatch> {
    const { rowScope: scope, transaction } = caller;
    const bodies = callback === undefined ? jobs : [...jobs, callback];
    const at = (index: number): string => (index < jobs.length ? `jobs[${index}]` : 'callback');
    return withEnqueueRequests(
      bodies,
      this.#requests,
      async (requests) => {
        await this.#admit(requests, caller);
        const scoped = await mapInSlices(requests, (request) => withVisibleQueues(request, scope));
        const [last] = scoped.slice(jobs.length);
        const batch = { ...rest, jobs: scoped.slice(0, jobs.length), ...(last && { callback: last }) };
        return this.#client.enqueueBatch(batch, transaction);
      },
      at,
    );
  }

  async #admit(requests: readonly EnqueueRequest[], caller: Caller): Promise<void> {
    await withApiErrors(() => this.#quotas.admitQueuesOf(requests, caller));
    await this.#backlog.admit(requests);
  }

  async #foundItem(id: string, transaction: TransactionClient | undefined): Promise<Item> {
    const job = await this.#storage.jobs.find(id, transaction);
    if (job !== null) return toJobItem(job);
    throw apiError(
      40901,
      `The job ${id} had the same key and has been deleted since; send another key to enqueue a new job`,
    );
  }
}

/** Returns the ids of the parents in a body that may break the schema. */
function parentsIn(body: unknown): string[] {
  const { after } = (body ?? {}) as { readonly after?: { readonly parents?: unknown } | null };
  const parents: unknown = after?.parents;
  if (!Array.isArray(parents)) return [];
  return parents.flatMap((parent: unknown) => (typeof parent === 'string' ? (parseUuid(parent) ?? []) : []));
}

/** Returns the enqueued job as an item; `null` if it has to be read from the storage. */
function storedItem(enqueued: EnqueuedJob): Item | null {
  const job = enqueued instanceof EnqueuedJobDetails ? enqueued.asStored() : null;
  return job === null ? null : toJobItem(job);
}

/**
 * Restricts a request to the queues that the caller may see: parents in other queues are treated as unknown. Without a
 * scope, the request is unchanged.
 */
function withVisibleQueues({ options, ...request }: EnqueueRequest, scope: Scope): EnqueueRequest {
  return { ...request, options: { ...options, ...(scope !== null && { visibleQueues: scope }) } };
}

/**
 * Like {@link withVisibleQueues}. In addition, the request fails if the existing job with the same key has been deleted
 * or is in a queue that the caller may not see.
 */
function requiringVisibleExisting(request: EnqueueRequest, scope: Scope): EnqueueRequest {
  const { options, ...rest } = withVisibleQueues(request, scope);
  return { ...rest, options: { ...options, includeHolder: true } };
}
