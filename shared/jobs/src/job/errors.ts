import { brand } from '@longshore/edge';
import { checkDelay } from './bounds.js';
import type { JobError } from './job-error.js';
import { shown } from './shown.js';

/**
 * Thrown if the storage cannot be reached, or if a call fails for a transient reason such as a time limit or a lock. A
 * later call may succeed.
 */
export class StorageUnavailableError extends Error {
  static {
    brand(this, 'StorageUnavailableError');
  }

  override readonly name = 'StorageUnavailableError';
  /** Why, in words for callers from outside: without hosts, addresses and names of the installation. */
  readonly summary: string;

  /** @param options `summary` states why without an address; by default, only that the storage is unavailable */
  constructor(message: string, options: ErrorOptions & { readonly summary?: string } = {}) {
    super(message, options);
    this.summary = options.summary ?? 'The storage is unavailable';
  }
}

/**
 * Thrown if a read gets no connection in time or exceeds the time limit for reads. A smaller or later read may succeed.
 */
export class ReadTimeoutError extends StorageUnavailableError {
  static {
    brand(this, 'ReadTimeoutError');
  }
}

/** Thrown if a storage is used after it was closed. Only a new storage can be used again. */
export class StorageClosedError extends StorageUnavailableError {
  static {
    brand(this, 'StorageClosedError');
  }

  constructor() {
    super(
      'The storage is closed: close it last, after the servers and clients that use it, or create another',
      { summary: 'The service is stopping' },
    );
  }
}

/** Thrown if a call would create a queue, but the maximum number of queues already exists. */
export class TooManyQueuesError extends RangeError {
  static {
    brand(this, 'TooManyQueuesError');
  }

  override readonly name = 'TooManyQueuesError';

  constructor(queue: string, max: number) {
    super(
      `The maximum of ${max} queues has been reached, so "${queue}" cannot be created. Use an existing queue, or delete one that is no longer used`,
    );
  }
}

/**
 * Thrown if the server was declared dead and has lost its leases. The server must register again before it can claim
 * jobs.
 */
export class ServerLostError extends Error {
  static {
    brand(this, 'ServerLostError');
  }

  override readonly name = 'ServerLostError';
  readonly serverId: string;

  constructor(serverId: string) {
    super(`Server ${serverId} has been declared dead; register again before claiming`);
    this.serverId = serverId;
  }
}

export interface ArgumentProblem {
  /** The path of the value, such as `args.customer.id` or `args[2]`. */
  readonly path: string;
  /** The problem, worded to follow the path in a sentence, such as `is undefined: …`. */
  readonly message: string;
  /**
   * `missing` if a required member is missing; `unknown` if the schema does not allow the member. Absent for all other
   * problems.
   */
  readonly kind?: 'missing' | 'unknown';
}

/** Thrown if arguments or a result cannot be stored, or do not match the schema of the job definition. */
export class InvalidArgumentsError extends TypeError {
  static {
    brand(this, 'InvalidArgumentsError');
  }

  override readonly name = 'InvalidArgumentsError';
  /** The status with which HTTP frameworks answer it: Express and Fastify read this property of errors. */
  readonly statusCode = 422;
  readonly problems: readonly ArgumentProblem[];

  constructor(problems: readonly ArgumentProblem[]) {
    super(problems.map(({ path, message }) => `${path} ${message}`).join('; '));
    this.problems = problems;
  }
}

/**
 * Thrown in a handler for a step that failed in an earlier attempt, and for a job that it waits for and that did not end
 * well. Its `name` and `message` are those of the stored error, so compare `name` instead of the class.
 */
export class StepFailedError extends Error {
  static {
    brand(this, 'StepFailedError');
  }

  override readonly name: string;
  readonly step: string;
  /** The job that the step waited for; `null` if it waited for none. */
  readonly jobId: string | null;

  constructor(
    step: string,
    { name, message }: Pick<JobError, 'name' | 'message'>,
    jobId: string | null = null,
  ) {
    super(message);
    this.name = name;
    this.step = step;
    this.jobId = jobId;
  }
}

/** Thrown if a step takes longer than its `timeoutMs`. */
export class StepTimeoutError extends Error {
  static {
    brand(this, 'StepTimeoutError');
  }

  override readonly name = 'StepTimeoutError';

  constructor(step: string, timeoutMs: number) {
    super(`The step "${step}" exceeded its time limit of ${timeoutMs} ms`);
  }
}

/** Thrown if a job has too many steps, or too large results of them, for another one. Never retried: it would have them again. */
export class TooManyStepsError extends RangeError {
  static {
    brand(this, 'TooManyStepsError');
  }

  override readonly name = 'TooManyStepsError';
}

/**
 * Thrown if a handler ends the transaction that a step or `transaction` has lent to it, instead of leaving that to Longshore.
 * Never retried, because what it has written may be committed, and each attempt would write it again.
 */
export class TransactionEndedError extends Error {
  static {
    brand(this, 'TransactionEndedError');
  }

  override readonly name = 'TransactionEndedError';

  /** @param options `cause`: what the handler threw after it had ended the transaction */
  constructor(options?: ErrorOptions) {
    super(
      'The handler has ended the transaction that it was lent (commit, rollback or prepare transaction), so what it wrote may be committed without the result of its step or job, which was not stored. Remove that statement: the transaction is committed when the function returns, and rolled back when it throws',
      options,
    );
  }
}

/** Thrown if a job depends on a parent that does not exist or that the caller cannot see. Nothing was enqueued. */
export class UnknownParentError extends Error {
  static {
    brand(this, 'UnknownParentError');
  }

  override readonly name = 'UnknownParentError';
  readonly parentId: string;

  constructor(parentId: string) {
    super(`There is no job or batch ${parentId} to depend on; nothing was enqueued`);
    this.parentId = parentId;
  }
}

/** Thrown if another job holds the unique key of a job with `onConflict: 'reject'`. Nothing was enqueued. */
export class DuplicateJobError extends Error {
  static {
    brand(this, 'DuplicateJobError');
  }

  override readonly name = 'DuplicateJobError';
  readonly key: string;
  /**
   * The id of the job that holds the key; `null` if that job is in a queue that the caller cannot see. Also `null` if
   * the job was deleted and the caller cannot see all queues.
   */
  readonly holderId: string | null;

  constructor(key: string, holderId: string | null) {
    super(
      `${holderId === null ? 'Another job' : `Job ${holderId}`} holds the key "${key}"; nothing was enqueued`,
    );
    this.key = key;
    this.holderId = holderId;
  }
}

/** Thrown if an idempotency key is reused with another job name or other arguments. Nothing was enqueued. */
export class IdempotencyConflictError extends Error {
  static {
    brand(this, 'IdempotencyConflictError');
  }

  override readonly name = 'IdempotencyConflictError';
  readonly idempotencyKey: string;
  /** The id of the job that has the key; `null` if that job is in a queue that the caller cannot see. */
  readonly jobId: string | null;

  constructor(idempotencyKey: string, jobId: string | null) {
    const job = jobId === null ? 'a job' : `job ${jobId},`;
    super(
      `The idempotency key "${idempotencyKey}" was already used for ${job} with another name or other arguments; nothing was enqueued`,
    );
    this.idempotencyKey = idempotencyKey;
    this.jobId = jobId;
  }
}

/**
 * Thrown if the caller asked to see the job that holds a key, but that job was deleted or is in a queue that the caller
 * cannot see. Nothing was enqueued.
 */
export class KeyHolderHiddenError extends Error {
  static {
    brand(this, 'KeyHolderHiddenError');
  }

  override readonly name = 'KeyHolderHiddenError';

  /**
   * @param keys the keys of the rejected job; another job holds one of them
   * @param deletedId the id of the deleted job that holds the key; `null` if the job has not been deleted, or the
   *   caller is not allowed to see the id
   */
  constructor(keys: readonly string[], deletedId: string | null) {
    const named = keys.map((key) => `"${key}"`).join(' or ');
    super(
      deletedId === null
        ? `The job that holds the key ${named} cannot be shown; nothing was enqueued`
        : `The job ${deletedId}, which holds the key ${named}, has been deleted; nothing was enqueued`,
    );
  }
}

/** Thrown if the lease on a job was lost. Another server may already be running the job. */
export class ClaimLostError extends Error {
  static {
    brand(this, 'ClaimLostError');
  }

  override readonly name = 'ClaimLostError';

  constructor(jobId: string) {
    super(`The claim on job ${jobId} is no longer valid; nothing was changed`);
  }
}

/** The abort reason of a handler's signal when the job is cancelled. */
export class JobCancelledError extends Error {
  static {
    brand(this, 'JobCancelledError');
  }

  override readonly name = 'JobCancelledError';

  constructor() {
    super('The job was cancelled');
  }
}

/** The error of an attempt that exceeded its time limit. Also the abort reason of the handler's signal. */
export class JobTimeoutError extends Error {
  static {
    brand(this, 'JobTimeoutError');
  }

  override readonly name = 'JobTimeoutError';
  readonly timeoutMs: number;

  /** @param options `cause`: what the handler threw after the time limit */
  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`The attempt exceeded its time limit of ${timeoutMs} ms`, options);
    this.timeoutMs = timeoutMs;
  }
}

/** Thrown if the result of a handler or of a step exceeds the server's size limit. */
export class ResultTooLargeError extends Error {
  static {
    brand(this, 'ResultTooLargeError');
  }

  override readonly name = 'ResultTooLargeError';

  /** @param root what errors call the result: `result` for that of a handler */
  constructor(bytes: number, maxBytes: number, root = 'result') {
    super(
      `The ${root === 'result' ? root : `result of ${root}`} takes ${bytes} bytes as JSON; the limit is ${maxBytes} (maxResultBytes)`,
    );
  }
}

/** Thrown by a handler to cancel its job, even if attempts are left. */
export class CancelJob extends Error {
  static {
    brand(this, 'CancelJob');
  }

  override readonly name = 'CancelJob';
}

/** Thrown by a handler to run its job again later, without counting the attempt. */
export class SnoozeJob extends Error {
  static {
    brand(this, 'SnoozeJob');
  }

  override readonly name = 'SnoozeJob';
  readonly delayMs: number;

  /** @throws {RangeError} unless `delayMs` is a number of milliseconds from 0 to 315,360,000,000 (ten years) */
  constructor(delayMs: number) {
    super(`The job will run again in ${shown(delayMs)} ms`);
    this.delayMs = checkDelay('The delay of a snoozed job', delayMs);
  }
}
