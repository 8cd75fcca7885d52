import type { NewBatch } from '../job/batch.js';
import type { ClaimedJob, Job, NewJob } from '../job/job.js';
import type { ActionOptions } from './audit-log.js';
import type { TransactionClient } from './transaction.js';
import { KeyHolderHiddenError } from '../job/errors.js';
import { type Holders, noHolders } from './key-resolution.js';

/**
 * New jobs, either as one list or as an async sequence of slices. With slices, the next slice can be built while the
 * storage writes the previous ones.
 */
export type NewJobs = readonly NewJob[] | AsyncIterable<readonly NewJob[]>;

/** Reads all slices and returns their jobs as one list. */
export async function collectJobs(jobs: NewJobs): Promise<readonly NewJob[]> {
  if (!(Symbol.asyncIterator in jobs)) return jobs;
  const all: NewJob[] = [];
  for await (const slice of jobs) for (const job of slice) all.push(job);
  return all;
}

/** Stores new jobs and batches. */
export interface Enqueuer {
  /**
   * Enqueues all jobs or none, and resolves once they are durable. Calls with a single job may be combined into one
   * write. If the caller passes a transaction, the jobs become visible when it commits and disappear if it rolls back.
   * A job is not created if another job holds one of its keys; the result then contains the holder's id. If another
   * open transaction has taken a key, the call waits until that transaction ends. If `jobs` is an async sequence and
   * throws, nothing is enqueued and the call rejects with that error.
   *
   * @throws {DuplicateJobError} if another job holds a key and `onConflict` is `reject`
   * @throws {IdempotencyConflictError} if an idempotency key was used for a different request
   * @throws {KeyHolderHiddenError} if a job requests its key holder with `includesHolder`, but the holder was deleted
   *   or is in a queue that the caller cannot see
   * @throws {UnknownParentError} if a job depends on a job or batch that does not exist
   * @throws {TypeError} if the storage does not support the caller's transaction
   */
  enqueue(jobs: NewJobs, transaction?: TransactionClient): Promise<EnqueueResult>;
  /**
   * Enqueues a batch with its jobs and callback, all or nothing, in the same way as {@link enqueue}. A job that is not
   * created because another job holds its key is not part of the batch.
   */
  enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult>;
  /**
   * Enqueues one job for an operator, in the same way as {@link enqueue}, in one transaction with the audit entry. Both are
   * stored or neither.
   */
  enqueueAudited(job: NewJob, options?: ActionOptions<EnqueueResult>): Promise<EnqueueResult>;
  /**
   * Registers a server in this process, so that new jobs can start on it directly, before other servers can claim them.
   * Returns a function that unregisters the server. Absent if claims are so cheap that direct starts would save
   * nothing.
   */
  startOn?(server: LocalServer): () => void;
}

export interface EnqueueResult {
  readonly holders: Holders;
  /**
   * The key holders requested with `includesHolder`, by id, as they were at the time of the call. Excludes holders
   * created by the same call.
   */
  readonly includedHolders: ReadonlyMap<string, Job>;
  /** When the jobs were created, by the storage's clock; `null` if none was created. */
  readonly createdAt: Date | null;
}

export const noIncludedHolders: EnqueueResult['includedHolders'] = new Map();

/**
 * Returns the result of enqueueing jobs that have no keys.
 *
 * @param createdAt `null` if no job was created
 */
export function enqueueResultOf(createdAt: Date | null): EnqueueResult {
  return { holders: noHolders, includedHolders: noIncludedHolders, createdAt };
}

/**
 * Returns the ids of the key holders requested with `includesHolder`. Excludes holders created by the same call,
 * because the caller already has them.
 */
export function holdersToInclude(jobs: readonly NewJob[], holders: Holders): string[] {
  const createdIds = new Set(jobs.map(({ id }) => id));
  const wanted = jobs.flatMap(({ id, includesHolder = false }) =>
    includesHolder ? (holders.get(id) ?? []) : [],
  );
  return [...new Set(wanted)].filter((id) => !createdIds.has(id));
}

/**
 * Checks that the caller may see every key holder requested with `includesHolder`.
 *
 * @param find returns the key holder with this id; `undefined` if it was deleted
 * @throws {KeyHolderHiddenError} if a key holder was deleted or is in a queue that the caller cannot see
 */
export function checkIncluded(
  jobs: readonly NewJob[],
  holders: Holders,
  find: (id: string) => Pick<Job, 'queue'> | undefined,
): void {
  const createdIds = new Set(jobs.map(({ id }) => id));
  for (const { id, includesHolder = false, visibleQueues = null, keys } of jobs) {
    const holderId = holders.get(id);
    if (!includesHolder || holderId === undefined || createdIds.has(holderId)) continue;
    const holder = find(holderId);
    const isVisible =
      holder !== undefined && (visibleQueues === null || visibleQueues.includes(holder.queue));
    const deletedId = holder === undefined && visibleQueues === null ? holderId : null;
    if (!isVisible)
      throw new KeyHolderHiddenError(
        (keys ?? []).map(({ key }) => key),
        deletedId,
      );
  }
}

/** A job server in the same process as the enqueuer. The storage can start new jobs on it without a separate claim. */
export interface LocalServer {
  /**
   * Reserves slots for new jobs of one name. Returns `null` if the server should not start them directly, for example
   * because it is busy or does not handle this name.
   *
   * @param jobIds the jobs to reserve slots for; all of them start, or none
   */
  reserve(queue: string, name: string, jobIds: readonly string[]): SlotReservation | null;
}

/** Slots of a {@link LocalServer}. They stay reserved until one of the methods is called. */
export interface SlotReservation {
  /** The server to lease the jobs to. */
  readonly serverId: string;
  readonly leaseMs: number;
  /** Runs the jobs, which are now leased to the server. */
  start(jobs: readonly ClaimedJob[]): void;
  /** Frees the slots. Called if the jobs were not leased to the server. */
  release(): void;
  /** Frees the slots after an error. The server then checks whether the jobs were leased to it. */
  fail(): void;
}
