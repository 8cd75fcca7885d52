import { excessBytes } from '../job/arguments.js';
import { bounds, checkInteger, checkText } from '../job/bounds.js';
import type { JobDefinition } from '../job/definition.js';
import { InvalidArgumentsError } from '../job/errors.js';
import { IdSource } from '../job/id.js';
import type { NewJob } from '../job/job.js';
import { compose } from '../job/middleware.js';
import { checkPeriod } from '../job/uniqueness.js';
import type { Enqueuer } from '../storage/enqueuer.js';
import type { JobStorage } from '../storage/storage.js';
import type { TransactionClient } from '../storage/transaction.js';
import { checkCondition } from './after-option.js';
import type { BatchOrder, EnqueuedBatch } from './batch-order.js';
import type { EnqueueContext, EnqueueMiddleware } from './enqueue-middleware.js';
import type { EnqueuedJob, EnqueueOptions } from './enqueue-options.js';
import { HandedOver } from './handed-over.js';
import type { JobOrder } from './job-order.js';
import { mapInSlices } from './slices.js';
import { toNewJob } from './new-job.js';
import { RecurringClient } from './recurring-client.js';

export interface JobClientOptions {
  /** Around every call, the first outermost; none by default. */
  middleware?: readonly EnqueueMiddleware[];

  /** How many bytes the arguments of a job may take as JSON, 1 to 67 108 864; 1 048 576 by default. */
  maxArgsBytes?: number;

  /** How many milliseconds an idempotency key stands for its job, 1 to 31 536 000 000; 86 400 000 by default: 24 hours. */
  idempotencyPeriodMs?: number;
}

/** Creates jobs and drops them into the storage. Cheap; one a process is enough. */
export class JobClient {
  readonly recurring: RecurringClient;
  readonly #enqueuer: Enqueuer;
  readonly #ids: IdSource;
  readonly #maxArgsBytes: number;
  readonly #idempotencyPeriodMs: number;
  readonly #middleware: readonly EnqueueMiddleware[];

  constructor(
    storage: Pick<JobStorage, 'enqueuer' | 'recurring' | 'clock'>,
    { maxArgsBytes = 1_048_576, middleware = [], idempotencyPeriodMs = 86_400_000 }: JobClientOptions = {},
  ) {
    this.recurring = new RecurringClient(storage.recurring);
    this.#enqueuer = storage.enqueuer;
    this.#ids = new IdSource(storage.clock);
    this.#maxArgsBytes = checkInteger('maxArgsBytes', maxArgsBytes, bounds.documentBytes);
    this.#idempotencyPeriodMs = checkPeriod('idempotencyPeriodMs', idempotencyPeriodMs);
    this.#middleware = middleware;
  }

  /**
   * Hands over one job. Resolves once it is durable.
   *
   * @throws {InvalidArgumentsError} if the arguments cannot be stored or do not fit the definition
   * @throws {RangeError} if an option is out of its bounds
   * @throws {DuplicateJobError} if another job holds its key and it insists on it
   * @throws {IdempotencyConflictError} if its idempotency key was used for something else
   * @throws {UnknownParentError} if it is to wait for something that is not there
   * @throws {StorageUnavailableError} if the storage could not be reached; the job may or may not be there
   */
  async enqueue<Args>(
    definition: JobDefinition<Args>,
    args: Args,
    options: EnqueueOptions = {},
  ): Promise<EnqueuedJob> {
    if (this.#middleware.length > 0) {
      const { transaction, ...rest } = options;
      // A definition of certain arguments, together with these, is a definition of some arguments.
      const order = { definition, args, options: rest } as JobOrder;
      const [enqueued] = await this.enqueueMany([order], transaction);
      if (enqueued === undefined)
        throw new Error('A middleware left no job to enqueue; to refuse one it throws');
      return enqueued;
    }
    const job = this.#toNewJob(definition, args, options, []);
    const receipt =
      options.transaction === undefined
        ? await this.#enqueuer.enqueue(job)
        : await this.#enqueuer.enqueueMany([job], options.transaction);
    return new HandedOver(job, receipt);
  }

  /**
   * Hands over several jobs: all of them or none. Throws as {@link enqueue} does.
   *
   * @param transaction as in {@link EnqueueOptions}
   */
  async enqueueMany(orders: readonly JobOrder[], transaction?: TransactionClient): Promise<EnqueuedJob[]> {
    if (this.#middleware.length === 0) return this.#enqueueMany(orders, transaction);
    const enqueue = compose<EnqueueContext, EnqueuedJob[]>(this.#middleware, (context) =>
      this.#enqueueMany(context.orders, transaction),
    );
    return enqueue({ orders, followUp: null, transaction });
  }

  async #enqueueMany(orders: readonly JobOrder[], transaction?: TransactionClient): Promise<EnqueuedJob[]> {
    const jobs: NewJob[] = [];
    await mapInSlices(orders, ({ definition, args, options = {} }) =>
      jobs.push(this.#toNewJob(definition, args, options, jobs)),
    );
    const [first] = jobs;
    if (first === undefined) return [];
    // Storages may put what concurrent callers enqueue into one write.
    const receipt =
      jobs.length === 1 && transaction === undefined
        ? await this.#enqueuer.enqueue(first)
        : await this.#enqueuer.enqueueMany(jobs, transaction);
    return mapInSlices(jobs, (job) => new HandedOver(job, receipt));
  }

  /**
   * Hands over jobs that are counted together, with one that may follow them: all of it or nothing. A job that is not
   * created, for another holds its key, is no part of the batch. Throws as {@link enqueue} does.
   *
   * @param transaction as in {@link EnqueueOptions}
   */
  async enqueueBatch(order: BatchOrder, transaction?: TransactionClient): Promise<EnqueuedBatch> {
    if (this.#middleware.length === 0) return this.#enqueueBatch(order, transaction);
    let batch: EnqueuedBatch | null = null;
    const { followUp: last = null, ...rest } = order;
    const enqueue = compose<EnqueueContext, EnqueuedJob[]>(this.#middleware, async ({ orders, followUp }) => {
      const jobs = { ...rest, jobs: orders, ...(followUp !== null && { followUp }) };
      const enqueued = await this.#enqueueBatch(jobs, transaction);
      batch = enqueued;
      return enqueued.followUp === null ? [...enqueued.jobs] : [...enqueued.jobs, enqueued.followUp];
    });
    await enqueue({ orders: order.jobs, followUp: last, transaction });
    if (batch === null) throw new Error('A middleware left no batch to enqueue; to refuse one it throws');
    return batch;
  }

  async #enqueueBatch(order: BatchOrder, transaction?: TransactionClient): Promise<EnqueuedBatch> {
    const { name = null, followUp: last, followUpWhen: when = 'onDone' } = order;
    if (name !== null) checkText('The name of a batch', name, bounds.keyLength);
    checkCondition(when);
    const id = this.#ids.newId();
    const jobs: NewJob[] = [];
    await mapInSlices(order.jobs, ({ definition, args, options = {} }) => {
      const job = this.#toNewJob(definition, args, options, jobs);
      jobs.push({ ...job, meta: { ...job.meta, batchId: id } });
    });
    const after = { parents: [id], when };
    const followUp =
      last === undefined
        ? null
        : this.#toNewJob(last.definition, last.args, { ...last.options, after }, jobs);
    const receipt = await this.#enqueuer.enqueueBatch({ id, name, jobs, followUp }, transaction);
    return {
      id,
      jobs: await mapInSlices(jobs, (job) => new HandedOver(job, receipt)),
      followUp: followUp === null ? null : new HandedOver(followUp, receipt),
    };
  }

  /** @param earlier the jobs that come before it in the same call */
  #toNewJob<Args>(
    definition: JobDefinition<Args>,
    args: Args,
    options: EnqueueOptions,
    earlier: readonly NewJob[],
  ): NewJob {
    const job = toNewJob(definition, args, options, this.#idempotencyPeriodMs, this.#ids, earlier);
    const bytes = excessBytes(job.args, this.#maxArgsBytes);
    if (bytes === null) return job;
    const message = `take ${bytes} bytes as JSON; this client allows ${this.#maxArgsBytes} (maxArgsBytes)`;
    throw new InvalidArgumentsError([{ path: 'args', message }]);
  }
}
