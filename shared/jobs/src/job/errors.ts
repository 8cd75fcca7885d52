import { checkDelay } from './bounds.js';

/** The storage could not be reached or gave up under load; trying again later may succeed. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/**
 * A read got no connection in time, or was not finished in the time that reads may take. Writes have connections of their own and are
 * not affected. To ask for less, or later, may succeed.
 */
export class ReadTimeoutError extends StorageUnavailableError {}

/** A further queue was named, but the maximum number of queues exists already. */
export class TooManyQueuesError extends RangeError {
  override readonly name = 'TooManyQueuesError';

  constructor(queue: string, most: number) {
    super(
      `There are ${most} queues, which is the most there may be: "${queue}" would be one more. Use one that exists, or delete one that is no longer used`,
    );
  }
}

/** This server was declared dead and lost its leases. It must register again before it claims more jobs. */
export class ServerLostError extends Error {
  override readonly name = 'ServerLostError';
  readonly serverId: string;

  constructor(serverId: string) {
    super(`Server ${serverId} has been declared dead; register again before claiming`);
    this.serverId = serverId;
  }
}

export interface ArgumentProblem {
  /** Where: `args.customer.id`, `args[2]`. */
  readonly path: string;
  /** Follows the path in a sentence: `is undefined: …`. */
  readonly message: string;
  /** An argument that must be there and is not, or one that the job does not know; without it, a value that does not fit. */
  readonly kind?: 'missing' | 'unknown';
}

/** Arguments, or a result, that cannot be stored or do not fit the schema of the job definition. */
export class InvalidArgumentsError extends TypeError {
  override readonly name = 'InvalidArgumentsError';
  readonly problems: readonly ArgumentProblem[];

  constructor(problems: readonly ArgumentProblem[]) {
    super(problems.map(({ path, message }) => `${path} ${message}`).join('; '));
    this.problems = problems;
  }
}

/** A job is to wait for something that is not there: neither a job nor a batch has this id. Nothing was enqueued. */
export class UnknownParentError extends Error {
  override readonly name = 'UnknownParentError';
  readonly parentId: string;

  constructor(parentId: string) {
    super(`There is no job and no batch ${parentId} to wait for; nothing was enqueued`);
    this.parentId = parentId;
  }
}

/** Another job holds the unique key of a job that insists on it (`onConflict: 'reject'`). Nothing was enqueued. */
export class DuplicateJobError extends Error {
  override readonly name = 'DuplicateJobError';
  readonly key: string;
  /** The job that holds the key; `null` if it is in a queue that the caller cannot see. */
  readonly holderId: string | null;

  constructor(key: string, holderId: string | null) {
    super(
      `${holderId === null ? 'Another job' : `Job ${holderId}`} holds the key "${key}"; nothing was enqueued`,
    );
    this.key = key;
    this.holderId = holderId;
  }
}

/** An idempotency key came again with another job name or other arguments. Nothing was enqueued. */
export class IdempotencyConflictError extends Error {
  override readonly name = 'IdempotencyConflictError';
  readonly idempotencyKey: string;
  /** The job that the key was first used for; `null` if it is in a queue that the caller cannot see. */
  readonly jobId: string | null;

  constructor(idempotencyKey: string, jobId: string | null) {
    const job = jobId === null ? 'a job' : `job ${jobId},`;
    super(
      `The idempotency key "${idempotencyKey}" was used for ${job} of another name or with other arguments; nothing was enqueued`,
    );
    this.idempotencyKey = idempotencyKey;
    this.jobId = jobId;
  }
}

/** The job that holds a key cannot be shown to the caller: it was deleted, or is in a queue that the caller cannot see. Nothing was enqueued. */
export class KeyHolderHiddenError extends Error {
  override readonly name = 'KeyHolderHiddenError';

  /**
   * @param keys what the refused job brought, one of which is held
   * @param deletedId of the holder, if it was deleted and the caller may know
   */
  constructor(keys: readonly string[], deletedId: string | null) {
    const named = keys.map((key) => `"${key}"`).join(' or ');
    super(
      deletedId === null
        ? `The job that holds the key ${named} is out of reach; nothing was enqueued`
        : `The job ${deletedId}, which holds the key ${named}, has been deleted; nothing was enqueued`,
    );
  }
}

/** The claim on a job no longer holds: another server may be running it. */
export class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError';

  constructor(jobId: string) {
    super(`The claim on job ${jobId} no longer holds; nothing was changed`);
  }
}

/** The reason with which a handler's signal aborts when its job is cancelled. */
export class JobCancelledError extends Error {
  override readonly name = 'JobCancelledError';

  constructor() {
    super('The job was cancelled');
  }
}

/** Why a handler's signal aborted, and how its attempt failed: it took longer than it may. */
export class JobTimeoutError extends Error {
  override readonly name = 'JobTimeoutError';
  readonly timeoutMs: number;

  /** @param options `cause`: what the handler threw after its time was up */
  constructor(timeoutMs: number, options?: ErrorOptions) {
    super(`The attempt took longer than its ${timeoutMs} ms`, options);
    this.timeoutMs = timeoutMs;
  }
}

/** A handler's result is larger than the server allows. */
export class ResultTooLargeError extends Error {
  override readonly name = 'ResultTooLargeError';

  constructor(bytes: number, maxBytes: number) {
    super(`The result takes ${bytes} bytes as JSON; this server allows ${maxBytes} (maxResultBytes)`);
  }
}

/** Thrown by a handler to cancel its job, regardless of the attempts left. */
export class CancelJob extends Error {
  override readonly name = 'CancelJob';
}

/** Thrown by a handler to run its job again later, without counting the attempt. */
export class SnoozeJob extends Error {
  override readonly name = 'SnoozeJob';
  readonly delayMs: number;

  /** @throws {RangeError} if `delayMs` is not a number of milliseconds from 0 to 315 360 000 000: ten years */
  constructor(delayMs: number) {
    super(`The job asks to be run again in ${delayMs} ms`);
    this.delayMs = checkDelay('The time for which a job snoozes', delayMs);
  }
}
