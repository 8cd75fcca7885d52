import { isDeepStrictEqual } from 'node:util';
import { bounds, checkInteger, checkTime } from '../job/bounds.js';
import { checkName, checkPriority } from '../job/definition.js';
import type { Job, JsonText } from '../job/job.js';
import { checkTags, type JobMeta } from '../job/meta.js';
import type { JobState } from '../job/state.js';
import type { ActionOptions } from './audit-log.js';

/** The properties that operators can change while a job is waiting to run. */
export interface JobContent {
  readonly queue: string;
  readonly priority: number;
  /** The new arguments. A number that JavaScript considers equal to the stored number keeps the stored digits. */
  readonly args: JsonText;
  /**
   * When the job becomes ready. A ready job that is given a future time becomes scheduled. `null` is allowed only if
   * the job's `runAt` is already `null`.
   */
  readonly runAt: Date | null;
  /** The labels, each once; unchanged by default. */
  readonly tags?: readonly string[] | undefined;
  /** At least one more than the job has had attempts; unchanged by default. */
  readonly maxAttempts?: number | undefined;
}

export interface EditOptions extends ActionOptions<EditResult> {
  /** The queues whose jobs the caller may see; by default, and if `null`, all. Jobs in other queues count as unknown. */
  readonly visibleQueues?: readonly string[] | null | undefined;
}

/** The result of an edit. */
export interface EditResult {
  /** The existing jobs before the edit, by id. */
  readonly before: ReadonlyMap<string, Job>;
  /** The edited jobs. */
  readonly jobs: readonly Job[];
}

/**
 * Decides how jobs are edited. Receives the existing jobs by id, and returns the new content of each job to change.
 * These jobs must be in one of the {@link editableStates}. Asynchronous, so that decisions about thousands of jobs need
 * not block the event loop.
 */
export type DecideEdits = (current: ReadonlyMap<string, Job>) => Promise<ReadonlyMap<string, JobContent>>;

export const editableStates: readonly JobState[] = ['scheduled', 'awaiting', 'enqueued'];

/** Maximum total size of the arguments and results of jobs that are edited together, in bytes of JSON. */
export const maxEditedBytes = 16 * 1024 * 1024;

/**
 * Checks the total size of jobs that are edited together. A single job can always be edited.
 *
 * @param bytes the total size of all arguments and results
 * @throws {RangeError} if there is more than one job and `bytes` exceeds {@link maxEditedBytes}
 */
export function checkEditedBytes(ids: readonly string[], bytes: number): void {
  if (ids.length > 1 && bytes > maxEditedBytes)
    throw new RangeError(
      `These ${ids.length} jobs have ${bytes} bytes of arguments and results, and the limit for one edit is ${maxEditedBytes}: edit fewer jobs at a time`,
    );
}

/**
 * Checks the result of {@link DecideEdits}. Returns it without the tags and numbers of attempts that stay as they are.
 *
 * @throws {RangeError} if a job does not exist or cannot be edited, or its new content is out of bounds
 */
export function checkEdits(
  current: ReadonlyMap<string, Job>,
  edits: ReadonlyMap<string, JobContent>,
): ReadonlyMap<string, JobContent> {
  const checked = new Map<string, JobContent>();
  for (const [id, edit] of edits) {
    const { queue, priority, runAt } = edit;
    const job = current.get(id);
    const state = job?.state;
    if (job === undefined || state === undefined || !editableStates.includes(state))
      throw new RangeError(
        `Job ${id} cannot be edited: ${state === undefined ? 'it does not exist' : `it is ${state}`}`,
      );
    checkName('queue', queue);
    checkPriority(priority);
    if (runAt !== null) checkTime('runAt', runAt);
    else if (job.runAt !== null) throw new RangeError(`Job ${id} is due at a set time: runAt cannot be null`);
    const tags = edit.tags === undefined ? undefined : checkTags(edit.tags);
    const isTagged = tags !== undefined && !isDeepStrictEqual(tags, job.tags);
    checked.set(id, {
      ...edit,
      tags: isTagged ? tags : undefined,
      maxAttempts: edit.maxAttempts === job.maxAttempts ? undefined : checkAttempts(job, edit.maxAttempts),
    });
  }
  return checked;
}

/** @throws {RangeError} if the new queue or priority of a job that is retried is out of bounds */
export function checkRetried({ queue, priority }: Partial<JobContent> = {}): void {
  if (queue !== undefined) checkName('queue', queue);
  if (priority !== undefined) checkPriority(priority);
}

function checkAttempts({ id, attempt }: Job, maxAttempts: number | undefined): number | undefined {
  if (maxAttempts === undefined) return undefined;
  checkInteger('maxAttempts', maxAttempts, bounds.maxAttempts);
  if (maxAttempts > attempt) return maxAttempts;
  throw new RangeError(
    `Job ${id} has had ${attempt} attempts: maxAttempts must be at least ${attempt + 1}, or cancel the job`,
  );
}

/** Returns a job's metadata with other tags. */
export function metaWithTags(meta: JobMeta | null, tags: readonly string[]): JobMeta | null {
  const { tags: _tags, ...otherMembers } = meta ?? {};
  const edited = tags.length === 0 ? otherMembers : { ...otherMembers, tags };
  return Object.keys(edited).length === 0 ? null : edited;
}
