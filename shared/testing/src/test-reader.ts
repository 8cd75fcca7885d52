import type { Batch, Job, JobState, JsonValue } from '@longshore/jobs';
import {
  type Attempt,
  type AttemptReader,
  type Check,
  hasOptions,
  isListOf,
  isOneOf,
  isText,
  jobStates,
  newId,
  orNull,
  progressOf,
  readMeta,
  type StoredParent,
  toJobError,
} from '@longshore/jobs/storage';

/** A job that a handler under test can read: one of its parents, or a job of its batch. */
export interface TestJob {
  readonly name: string;
  /** A new id by default. */
  readonly id?: string;
  /** By default, `failed` if there is an error, otherwise `done`. */
  readonly state?: JobState;
  /** `{}` by default. */
  readonly args?: JsonValue;
  /** `null` by default. */
  readonly result?: JsonValue;
  readonly error?: Error;
}

/** A batch that a handler under test can read. Its counts follow from the states of its jobs. */
export interface TestBatch {
  readonly jobs: readonly TestJob[];
  /** `null` by default. */
  readonly name?: string | null;
  /** A new id by default. */
  readonly id?: string;
}

/** What the handler of `runJob` can read about the work before its attempt. */
export interface TestReads {
  /** The jobs that the job waited for; `null` for one that was deleted since. None by default. */
  readonly parents?: readonly (TestJob | null)[];
  /** The batch that the job waited for, as a batch callback does; after `parents`, it is the last parent. None by default. */
  readonly batch?: TestBatch;
  /** The errors of the earlier attempts, oldest first. With them, `attempt` is the next one by default. None by default. */
  readonly earlierErrors?: readonly Error[];
}

const isTestJob = hasOptions<TestJob>(
  {
    name: isText,
    id: isText,
    state: isOneOf(jobStates),
    args: true,
    result: true,
    error: true,
  },
  ['name'],
);

export const isTestParents: Check = isListOf(orNull(isTestJob));

export const isTestBatch: Check = hasOptions<TestBatch>(
  { jobs: isListOf(isTestJob), name: orNull(isText), id: isText },
  ['jobs'],
);

/** Reads what a test gives. */
export class TestReader implements AttemptReader {
  readonly #parents: readonly StoredParent[];
  readonly #batch: (Batch & { readonly kind: 'batch' }) | null;
  readonly #batchJobs: readonly Job[];
  readonly #attempts: readonly Attempt[];

  constructor({ parents = [], batch, earlierErrors = [] }: TestReads) {
    const at = new Date();
    this.#batchJobs = (batch?.jobs ?? []).map((job) => toJob(job, at));
    this.#batch = batch === undefined ? null : { ...toBatch(batch, this.#batchJobs, at), kind: 'batch' };
    this.#parents = [
      ...parents.map((parent) => toParent(parent, at)),
      ...(this.#batch === null ? [] : [this.#batch]),
    ];
    this.#attempts = earlierErrors.map((error, index) => ({
      attempt: index + 1,
      outcome: 'failed',
      serverId: newId(),
      startedAt: at,
      finishedAt: at,
      error: toJobError(error),
    }));
  }

  async parents(): Promise<readonly StoredParent[]> {
    return this.#parents;
  }

  async batch(): ReturnType<AttemptReader['batch']> {
    return this.#batch;
  }

  async batchJobs({
    state,
    name,
  }: Parameters<AttemptReader['batchJobs']>[0]): ReturnType<AttemptReader['batchJobs']> {
    const jobs = this.#batchJobs.filter((job) => job.state === state && (name === null || job.name === name));
    return { jobs, isLast: true };
  }

  async attempts(): Promise<readonly Attempt[]> {
    return this.#attempts;
  }
}

function toParent(parent: TestJob | null, at: Date): StoredParent {
  if (parent === null)
    return { kind: 'deleted', id: newId(), name: null, state: null, result: null, error: null };
  const { id, name, state, result, error } = toJob(parent, at);
  return { kind: 'job', id, name, state, result, error };
}

function toJob(job: TestJob, at: Date): Job {
  const { name, id = newId(), args = {}, result = null, error } = job;
  return {
    id,
    name,
    queue: 'default',
    state: job.state ?? (error === undefined ? 'done' : 'failed'),
    priority: 0,
    args,
    result,
    error: error === undefined ? null : toJobError(error),
    attempt: 1,
    maxAttempts: 1,
    createdAt: at,
    runAt: null,
    delayMs: null,
    readyAt: null,
    startedAt: at,
    finishedAt: at,
    progress: null,
    serverId: null,
    cancelRequestedAt: null,
    cancelReason: null,
    ...readMeta(null),
  };
}

function toBatch({ id = newId(), name = null }: TestBatch, jobs: readonly Job[], at: Date): Batch {
  const count = (state: JobState): number => jobs.filter((job) => job.state === state).length;
  const counts = {
    total: jobs.length,
    done: count('done'),
    failed: count('failed'),
    cancelled: count('cancelled'),
  };
  const times = { createdAt: at, finishedAt: at };
  return { id, name, ...counts, ...progressOf(counts), callbackId: null, callbackWhen: null, ...times };
}
