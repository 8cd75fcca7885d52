import { brand } from '@longshore/edge';
import type { NewBatch } from '../job/batch.js';
import { DuplicateJobError, IdempotencyConflictError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import type { JobKey } from '../job/job-key.js';
import type { JobMeta } from '../job/meta.js';
import { isFinished, type JobState } from '../job/state.js';

/**
 * Maps the id of each job that was not created to the id of the key holder: the job that already holds one of the keys.
 */
export type Holders = ReadonlyMap<string, string>;

export const noHolders: Holders = new Map();

/** The job that holds a key, with the details that {@link resolveKeys} needs. */
export interface KeyHolder {
  readonly jobId: string;
  /** The holder's state; `null` if the holder was deleted or is created by the same call. */
  readonly state: JobState | null;
  readonly fingerprint: string | null;
}

/**
 * Thrown by {@link resolveKeys} if a job must be rejected because another job holds its key. For internal use: the
 * storage calls `toCaller` and throws the result instead.
 */
export class KeyHeldError extends Error {
  static {
    brand(this, 'KeyHeldError');
  }

  readonly job: NewJob;
  readonly key: JobKey;
  readonly holderId: string;
  readonly #isOtherJob: boolean;

  constructor(job: NewJob, key: JobKey, holder: KeyHolder) {
    super(`Job ${holder.jobId} holds the key "${key.key}"`);
    this.job = job;
    this.key = key;
    this.holderId = holder.jobId;
    this.#isOtherJob = key.fingerprint !== holder.fingerprint;
  }

  /**
   * Returns the error to throw to the caller: an {@link IdempotencyConflictError} if the key was used for a different
   * request, otherwise a {@link DuplicateJobError}. The error contains the holder's id only if the caller can see the
   * holder's queue.
   *
   * @param holderQueue the holder's queue; `undefined` if the holder was deleted. Only callers who can see all queues
   *   then get the holder's id
   */
  toCaller(holderQueue: string | undefined): Error {
    const { visibleQueues = null } = this.job;
    const isVisible =
      visibleQueues === null || (holderQueue !== undefined && visibleQueues.includes(holderQueue));
    const shownId = isVisible ? this.holderId : null;
    return this.#isOtherJob
      ? new IdempotencyConflictError(this.key.key, shownId)
      : new DuplicateJobError(this.key.key, shownId);
  }
}

export interface KeyResolution {
  /** The jobs to create, in the order in which they were passed. */
  readonly created: readonly NewJob[];
  readonly holders: Holders;
  /** Maps the ids of existing jobs to the new jobs whose content replaces theirs. */
  readonly replacements: ReadonlyMap<string, NewJob>;
  /** The keys that the storage must record, each with the id of the job that will hold it. */
  readonly claims: readonly { readonly queue: string; readonly key: JobKey; readonly jobId: string }[];
}

/**
 * Decides which of these jobs are created. The result is the same as if the jobs were enqueued one at a time, in order.
 *
 * @param holderOf returns the job that already held a key in a queue before this call; `null` if there is none
 * @throws {KeyHeldError} if a key is already held and its `onConflict` is `reject`, or if an idempotency key was used
 *   for a different request
 */
export function resolveKeys(
  jobs: readonly NewJob[],
  holderOf: (queue: string, key: JobKey) => KeyHolder | null,
): KeyResolution {
  const created = new Map<string, NewJob>();
  const holders = new Map<string, string>();
  const replacements = new Map<string, NewJob>();
  const claims = new Map<string, KeyResolution['claims'][number]>();

  const claim = ({ queue }: NewJob, keys: readonly JobKey[], jobId: string): void => {
    for (const key of keys) claims.set(keyName(queue, key), { queue, key, jobId });
  };
  const holder = (queue: string, key: JobKey): KeyHolder | null => {
    const earlier = claims.get(keyName(queue, key));
    if (earlier === undefined) return holderOf(queue, key);
    return { jobId: earlier.jobId, state: null, fingerprint: earlier.key.fingerprint };
  };

  for (const job of jobs) {
    const keys = job.keys ?? [];
    const keyHolders = keys.map((key) => holder(job.queue, key));
    const index = keyHolders.findIndex((keyHolder) => keyHolder !== null);
    const [key, conflict] = [keys[index], keyHolders[index]];
    if (key === undefined || conflict === undefined || conflict === null) {
      created.set(job.id, withParents(job, holders));
      claim(job, keys, job.id);
      continue;
    }
    const { jobId } = conflict;
    if (key.fingerprint !== conflict.fingerprint || key.onConflict === 'reject')
      throw new KeyHeldError(job, key, conflict);
    if (key.onConflict === 'replace') {
      const first = created.get(jobId);
      if (first !== undefined) created.set(jobId, replaced(first, job));
      else if (isReplaceable(conflict.state)) replacements.set(jobId, job);
    }
    holders.set(job.id, jobId);
    claim(job, keys.slice(0, index), jobId); // the preceding keys were free; they now belong to the existing job
  }
  return { created: [...created.values()], holders, replacements, claims: [...claims.values()] };
}

export function hasKeys({ keys = null }: NewJob): boolean {
  return keys !== null;
}

/** Returns the batch without the jobs that are not created. If the callback is not created, it becomes `null`. */
export function withoutUncreatedJobs(batch: NewBatch, created: readonly NewJob[]): NewBatch {
  const byId = new Map(created.map((job) => [job.id, job]));
  const jobs = batch.jobs.flatMap(({ id }) => byId.get(id) ?? []);
  return { ...batch, jobs, callback: byId.get(batch.callback?.id ?? '') ?? null };
}

/** Returns a string that uniquely identifies a key. The parts are separated by NUL, because no part can contain NUL. */
export function keyName(queue: string, { namespace, key }: Pick<JobKey, 'namespace' | 'key'>): string {
  return `${queue}\0${namespace}\0${key}`;
}

/**
 * The members of a job's metadata that stay the same when another job replaces the content, because they link the job to
 * other jobs or identify its request.
 */
export const linkMembers = [
  'batchId',
  'parentIds',
  'parentCondition',
  'recurringJobId',
  'enqueuedBy',
  'idempotencyKey',
  'unique',
  'hasDependents',
] as const;

/**
 * Returns the metadata of a job after another job has replaced its content. Takes the {@link linkMembers} from
 * `previous`, and everything else from `replacement`.
 */
export function replacedMeta(previous: JobMeta | null, replacement: JobMeta | null): JobMeta | null {
  const isLink = (member: string): boolean => (linkMembers as readonly string[]).includes(member);
  const meta = Object.fromEntries([
    ...Object.entries(previous ?? {}).filter(([member]) => isLink(member)),
    ...Object.entries(replacement ?? {}).filter(([member]) => !isLink(member)),
  ]) as JobMeta;
  return Object.keys(meta).length === 0 ? null : meta;
}

function replaced(first: NewJob, later: NewJob): NewJob {
  const meta = replacedMeta(first.meta ?? null, later.meta ?? null);
  return { ...later, id: first.id, after: first.after ?? null, keys: first.keys ?? null, meta };
}

function isReplaceable(state: JobState | null): boolean {
  return state !== null && state !== 'processing' && !isFinished(state);
}

/** Returns the job with updated parents: the key holder takes the place of a parent that was not created. */
function withParents(job: NewJob, holders: Holders): NewJob {
  if (!job.after?.parents.some((parent) => holders.has(parent))) return job;
  const parents = [...new Set(job.after.parents.map((parent) => holders.get(parent) ?? parent))];
  return { ...job, after: { ...job.after, parents }, meta: { ...job.meta, parentIds: parents } };
}
