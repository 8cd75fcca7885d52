import { excessBytes } from '../job/arguments.js';
import { type Concurrency, concurrencyMeta } from '../job/concurrency.js';
import {
  checkMaxAttempts,
  checkName,
  checkPriority,
  checkTimeout,
  type JobDefinition,
} from '../job/definition.js';
import { InvalidArgumentsError } from '../job/errors.js';
import type { After } from '../job/continuation.js';
import { isId, newId } from '../job/id.js';
import type { Due, NewJob } from '../job/job.js';
import type { JobMeta } from '../job/meta.js';
import { compose } from '../job/middleware.js';
import { checkTraceparent } from '../job/traceparent.js';
import type { JobIntake, JobStorage } from '../storage/storage.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { BatchOrder, EnqueuedBatch } from './batch-order.js';
import type { EnqueueContext, EnqueueMiddleware } from './enqueue-middleware.js';
import { RecurringClient } from './recurring-client.js';
import { type AfterOption, checkAfter, checkCondition, checkOrder } from './after-option.js';

export interface EnqueueOptions {
  /** Instead of the definition's queue. */
  queue?: string;
  /** Instead of the definition's priority; lower runs first. */
  priority?: number;
  /** Instead of the definition's number of attempts. */
  maxAttempts?: number;
  /** Instead of the definition's time for one attempt, in milliseconds. */
  timeoutMs?: number;
  /** The trace that the job belongs to (W3C Trace Context); its handler finds it in `job.traceparent`. */
  traceparent?: string;
  /** Words to find the job by: at most 20 of 1 to 100 characters. */
  tags?: readonly string[];
  /**
   * At most `limit` jobs of this queue with this key run at once, over all servers. Instead of the definition's; `null` for
   * no limit.
   */
  concurrency?: Concurrency | null;
  /** A UUID of version 7 made with `newId`, for other jobs of the same call to wait for; made if left out. */
  id?: string;
  /** Only after other jobs or batches have ended. */
  after?: AfterOption;
  /** Not before this many milliseconds have passed, which count from the end of its last parent if it has any. Excludes `runAt`. */
  delayMs?: number;
  /** Not before this time. A time in the past means at once. */
  runAt?: Date;
  /**
   * A `pg` client with a transaction under way: the job becomes visible with its commit and is gone if it rolls back.
   * Nothing tells servers of that moment, so the job starts at their next look, within 200 ms by default.
   */
  transaction?: TransactionClient;
}

/** What the caller learns about the job that it handed over. */
export interface EnqueuedJob {
  /** UUIDv7. */
  readonly id: string;
  readonly queue: string;
}

/** One job of a bulk: a definition, its arguments and options. */
export interface JobOrder<Args = unknown> {
  readonly definition: JobDefinition<Args>;
  readonly args: Args;
  readonly options?: Omit<EnqueueOptions, 'transaction'>;
}

export interface JobClientOptions {
  /** Around every call, the first outermost; none by default. */
  middleware?: readonly EnqueueMiddleware[];

  /** How many bytes the arguments of a job may take as JSON; 1 048 576 by default. */
  maxArgsBytes?: number;
}

/** Creates jobs and drops them into the storage. Cheap; one a process is enough. */
export class JobClient {
  readonly recurring: RecurringClient;
  readonly #intake: JobIntake;
  readonly #maxArgsBytes: number;
  readonly #around: ((context: EnqueueContext) => Promise<EnqueuedJob[]>) | null;

  constructor(
    storage: JobIntake & Pick<JobStorage, 'recurring'>,
    { maxArgsBytes = 1_048_576, middleware = [] }: JobClientOptions = {},
  ) {
    this.recurring = new RecurringClient(storage.recurring);
    this.#intake = storage;
    this.#maxArgsBytes = maxArgsBytes;
    const core = async ({ orders, transaction }: EnqueueContext): Promise<EnqueuedJob[]> =>
      this.#enqueueMany(orders, transaction);
    this.#around = middleware.length === 0 ? null : compose(middleware, core);
  }

  /**
   * Hands over one job. Resolves once it is durable.
   *
   * @throws {InvalidArgumentsError} if the arguments cannot be stored or do not fit the definition
   * @throws {RangeError} if an option is out of its bounds
   * @throws {UnknownParentError} if it is to wait for something that is not there
   * @throws {StorageUnavailableError} if the storage could not be reached; the job may or may not be there
   */
  async enqueue<Args>(
    definition: JobDefinition<Args>,
    args: Args,
    options: EnqueueOptions = {},
  ): Promise<EnqueuedJob> {
    if (this.#around !== null) {
      const { transaction, ...rest } = options;
      // A definition of certain arguments, together with these, is a definition of some arguments.
      const order = { definition, args, options: rest } as JobOrder;
      const [enqueued] = await this.#around({ orders: [order], transaction });
      if (enqueued === undefined)
        throw new Error('A middleware left no job to enqueue; to refuse one it throws');
      return enqueued;
    }
    const job = this.#toNewJob(definition, args, options);
    if (options.after !== undefined) checkOrder([job]);
    if (options.transaction === undefined) await this.#intake.enqueue(job);
    else await this.#intake.enqueueMany([job], options.transaction);
    return job;
  }

  /**
   * Hands over several jobs: all of them or none. Throws as {@link enqueue} does.
   *
   * @param transaction as in {@link EnqueueOptions}
   */
  async enqueueMany(orders: readonly JobOrder[], transaction?: TransactionClient): Promise<EnqueuedJob[]> {
    if (this.#around !== null) return this.#around({ orders, transaction });
    return this.#enqueueMany(orders, transaction);
  }

  async #enqueueMany(orders: readonly JobOrder[], transaction?: TransactionClient): Promise<EnqueuedJob[]> {
    const jobs = orders.map(({ definition, args, options = {} }) =>
      this.#toNewJob(definition, args, options),
    );
    if (orders.some(isPlaced)) checkOrder(jobs);
    const [first] = jobs;
    // Storages may put what concurrent callers enqueue into one write.
    if (first !== undefined && jobs.length === 1 && transaction === undefined)
      await this.#intake.enqueue(first);
    else if (jobs.length > 0) await this.#intake.enqueueMany(jobs, transaction);
    return jobs;
  }

  /**
   * Hands over jobs that are counted together, with one that may follow them: all of it or nothing. Throws as
   * {@link enqueue} does.
   *
   * @param transaction as in {@link EnqueueOptions}
   */
  async enqueueBatch(order: BatchOrder, transaction?: TransactionClient): Promise<EnqueuedBatch> {
    const { name = null, followUp: last, followUpWhen: when = 'onDone' } = order;
    if (name !== null && (name.length === 0 || name.length > 200))
      throw new RangeError('The name of a batch has 1 to 200 characters');
    checkCondition(when);
    const id = newId();
    const jobs = order.jobs.map(({ definition, args, options = {} }) => {
      const job = this.#toNewJob(definition, args, options);
      return { ...job, meta: { ...job.meta, batchId: id } };
    });
    if (order.jobs.some(isPlaced)) checkOrder(jobs);
    const followUp =
      last === undefined
        ? null
        : this.#toNewJob(last.definition, last.args, { ...last.options, after: { parents: [id], when } });
    await this.#intake.enqueueBatch({ id, name, jobs, followUp }, transaction);
    return { id, jobs, followUp };
  }

  #toNewJob<Args>(definition: JobDefinition<Args>, args: Args, options: EnqueueOptions): NewJob {
    const job = toNewJob(definition, args, options);
    const bytes = excessBytes(job.args, this.#maxArgsBytes);
    if (bytes === null) return job;
    const message = `take ${bytes} bytes as JSON; this client allows ${this.#maxArgsBytes} (maxArgsBytes)`;
    throw new InvalidArgumentsError([{ path: 'args', message }]);
  }
}

/** Whether the place of a job among those of its call matters. */
function isPlaced({ options }: JobOrder): boolean {
  return options?.id !== undefined || options?.after !== undefined;
}

function toNewJob<Args>(definition: JobDefinition<Args>, args: Args, options: EnqueueOptions): NewJob {
  const {
    queue = definition.queue,
    priority = definition.priority,
    maxAttempts = definition.maxAttempts,
  } = options;
  if (options.queue !== undefined) checkName('queue', queue);
  if (options.priority !== undefined) checkPriority(priority);
  if (options.maxAttempts !== undefined) checkMaxAttempts(maxAttempts);
  if (options.id !== undefined && !(isId(options.id) && options.id[14] === '7'))
    throw new RangeError(`"${options.id}" is not a UUID of version 7, as newId() makes them`);
  const after = options.after === undefined ? null : checkAfter(options.after);
  return {
    id: options.id?.toLowerCase() ?? newId(),
    name: definition.name,
    queue,
    priority,
    maxAttempts,
    args: definition.serialize(args),
    due: dueTime(options),
    meta: metaOf(
      options,
      after,
      options.concurrency === undefined ? definition.concurrencyOf(args) : options.concurrency,
    ),
    after,
  };
}

/** `null` for the plain job, which carries nothing more. */
function metaOf(
  options: EnqueueOptions,
  after: After | null,
  concurrency: Concurrency | null,
): JobMeta | null {
  const { tags = [], timeoutMs, traceparent } = options;
  if (timeoutMs !== undefined) checkTimeout(timeoutMs);
  if (traceparent !== undefined) checkTraceparent(traceparent);
  if (tags.length > 20 || tags.some((tag) => tag.length === 0 || tag.length > 100)) {
    throw new RangeError('tags are at most 20 words of 1 to 100 characters');
  }
  const meta: JobMeta = {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(traceparent !== undefined && { traceparent }),
    ...(after !== null && { parentIds: after.parents }),
    ...(concurrency !== null && concurrencyMeta(concurrency)),
    ...(tags.length > 0 && { tags: [...new Set(tags)] }),
  };
  return Object.keys(meta).length === 0 ? null : meta;
}

function dueTime({ delayMs, runAt }: EnqueueOptions): Due | null {
  if (delayMs !== undefined && runAt !== undefined) throw new RangeError('Give delayMs or runAt, not both');
  if (delayMs !== undefined && !(Number.isFinite(delayMs) && delayMs >= 0)) {
    throw new RangeError(`delayMs is a number of milliseconds, 0 or more, not ${delayMs}`);
  }
  if (runAt !== undefined && Number.isNaN(runAt.getTime())) throw new RangeError('runAt is not a valid date');
  if (runAt !== undefined) return { at: runAt };
  return delayMs === undefined || delayMs === 0 ? null : { inMs: delayMs };
}
