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
import type { BatchRequest, EnqueuedBatch } from './batch-request.js';
import type { EnqueueContext, EnqueueMiddleware } from './enqueue-middleware.js';
import type { EnqueuedJob, EnqueueOptions } from './enqueue-options.js';
import { EnqueuedJobDetails } from './enqueued-job-details.js';
import type { EnqueueRequest } from './enqueue-request.js';
import { mapInSlices } from './slices.js';
import { toNewJob } from './new-job.js';
import { RecurringClient } from './recurring-client.js';

export interface JobClientOptions {
  /** Wraps every call, the first outermost; none by default. */
  middleware?: readonly EnqueueMiddleware[];

  /** Maximum size of a job's arguments as JSON, in bytes: 1 to 67 108 864; 1 048 576 by default. */
  maxArgsBytes?: number;

  /**
   * How long an idempotency key stays valid, in milliseconds: 1 to 31 536 000 000; 86 400 000 (24 hours) by default.
   */
  idempotencyPeriodMs?: number;
}

/** Enqueues jobs. Cheap to create; one per process is enough. */
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
   * Enqueues one job. Resolves once it is durable.
   *
   * @throws {InvalidArgumentsError} if the arguments cannot be stored or do not match the definition's schema
   * @throws {RangeError} if an option is out of bounds
   * @throws {DuplicateJobError} if another job holds its key and `onConflict` is `reject`
   * @throws {IdempotencyConflictError} if its idempotency key was used for a different request
   * @throws {UnknownParentError} if it depends on a job or batch that does not exist
   * @throws {StorageUnavailableError} if the storage could not be reached; the job may or may not exist
   */
  async enqueue<Args>(
    definition: JobDefinition<Args>,
    args: Args,
    options: EnqueueOptions = {},
  ): Promise<EnqueuedJob> {
    if (this.#middleware.length > 0) {
      const { transaction, ...rest } = options;
      // The definition and its arguments belong together, so erasing the type is safe.
      const request = { definition, args, options: rest } as EnqueueRequest;
      const [enqueued] = await this.enqueueMany([request], transaction);
      if (enqueued === undefined)
        throw new Error('Middleware removed the job from the call; to reject a job, throw instead');
      return enqueued;
    }
    const job = this.#toNewJob(definition, args, options, []);
    const result =
      options.transaction === undefined
        ? await this.#enqueuer.enqueue(job)
        : await this.#enqueuer.enqueueMany([job], options.transaction);
    return new EnqueuedJobDetails(job, result);
  }

  /**
   * Enqueues several jobs: all of them or none. Throws as {@link enqueue} does.
   *
   * @param transaction see {@link EnqueueOptions}
   */
  async enqueueMany(
    requests: readonly EnqueueRequest[],
    transaction?: TransactionClient,
  ): Promise<EnqueuedJob[]> {
    if (this.#middleware.length === 0) return this.#enqueueMany(requests, transaction);
    const enqueue = compose<EnqueueContext, EnqueuedJob[]>(this.#middleware, (context) =>
      this.#enqueueMany(context.requests, transaction),
    );
    return enqueue({ requests, followUp: null, transaction });
  }

  async #enqueueMany(
    requests: readonly EnqueueRequest[],
    transaction?: TransactionClient,
  ): Promise<EnqueuedJob[]> {
    const jobs: NewJob[] = [];
    await mapInSlices(requests, ({ definition, args, options = {} }) =>
      jobs.push(this.#toNewJob(definition, args, options, jobs)),
    );
    const [first] = jobs;
    if (first === undefined) return [];
    // A storage may combine the jobs of concurrent callers in one write.
    const result =
      jobs.length === 1 && transaction === undefined
        ? await this.#enqueuer.enqueue(first)
        : await this.#enqueuer.enqueueMany(jobs, transaction);
    return mapInSlices(jobs, (job) => new EnqueuedJobDetails(job, result));
  }

  /**
   * Enqueues a batch, with an optional callback job: all or nothing. A job that is not created because another one
   * holds its key is not part of the batch. Throws as {@link enqueue} does.
   *
   * @param transaction see {@link EnqueueOptions}
   */
  async enqueueBatch(request: BatchRequest, transaction?: TransactionClient): Promise<EnqueuedBatch> {
    if (this.#middleware.length === 0) return this.#enqueueBatch(request, transaction);
    let batch: EnqueuedBatch | null = null;
    const { followUp: last = null, ...rest } = request;
    const enqueue = compose<EnqueueContext, EnqueuedJob[]>(
      this.#middleware,
      async ({ requests, followUp }) => {
        const jobs = { ...rest, jobs: requests, ...(followUp !== null && { followUp }) };
        const enqueued = await this.#enqueueBatch(jobs, transaction);
        batch = enqueued;
        return enqueued.followUp === null ? [...enqueued.jobs] : [...enqueued.jobs, enqueued.followUp];
      },
    );
    await enqueue({ requests: request.jobs, followUp: last, transaction });
    if (batch === null)
      throw new Error('Middleware did not call next() for a batch; to reject a batch, throw instead');
    return batch;
  }

  async #enqueueBatch(request: BatchRequest, transaction?: TransactionClient): Promise<EnqueuedBatch> {
    const { name = null, followUp: last, followUpWhen: when = 'onDone' } = request;
    if (name !== null) checkText('The name of a batch', name, bounds.keyLength);
    checkCondition(when);
    const id = this.#ids.newId();
    const jobs: NewJob[] = [];
    await mapInSlices(request.jobs, ({ definition, args, options = {} }) => {
      const job = this.#toNewJob(definition, args, options, jobs);
      jobs.push({ ...job, meta: { ...job.meta, batchId: id } });
    });
    const after = { parents: [id], when };
    const followUp =
      last === undefined
        ? null
        : this.#toNewJob(last.definition, last.args, { ...last.options, after }, jobs);
    const result = await this.#enqueuer.enqueueBatch({ id, name, jobs, followUp }, transaction);
    return {
      id,
      jobs: await mapInSlices(jobs, (job) => new EnqueuedJobDetails(job, result)),
      followUp: followUp === null ? null : new EnqueuedJobDetails(followUp, result),
    };
  }

  /** @param earlier the jobs that precede it in the call */
  #toNewJob<Args>(
    definition: JobDefinition<Args>,
    args: Args,
    options: EnqueueOptions,
    earlier: readonly NewJob[],
  ): NewJob {
    const job = toNewJob(definition, args, options, this.#idempotencyPeriodMs, this.#ids, earlier);
    const bytes = excessBytes(job.args, this.#maxArgsBytes);
    if (bytes === null) return job;
    const message = `take ${bytes} bytes as JSON; the limit is ${this.#maxArgsBytes} (maxArgsBytes)`;
    throw new InvalidArgumentsError([{ path: 'args', message }]);
  }
}
