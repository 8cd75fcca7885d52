import { brand, mapInSlices } from '@longshore/edge';
import { excessBytes } from '../job/arguments.js';
import { isString, isTransaction, maybe } from '../job/argument-check.js';
import { bounds, checkInteger, checkText } from '../job/bounds.js';
import { checkDefinition, type JobDefinition, namesOf } from '../job/definition.js';
import { InvalidArgumentsError } from '../job/errors.js';
import type { ContinuationCondition } from '../job/continuation.js';
import { IdSource } from '../job/id.js';
import type { Job, JsonValue, NewJob } from '../job/job.js';
import type { JobMeta } from '../job/meta.js';
import { compose, isMiddlewareList } from '../job/middleware.js';
import { checkOptions, type OptionNames } from '../job/options.js';
import { shown } from '../job/shown.js';
import { checkPeriod } from '../job/uniqueness.js';
import { collectJobs, type Enqueuer, type EnqueueResult } from '../storage/enqueuer.js';
import type { JobReader } from '../storage/job-reader.js';
import { checkStorage, type JobStorage } from '../storage/storage.js';
import type { Steps } from '../storage/steps.js';
import type { TransactionClient } from '../storage/transaction.js';
import { checkCondition } from './after-option.js';
import { batchOptions, type BatchRequest, type EnqueuedBatch } from './batch-request.js';
import type { BoundClient } from './bound-client.js';
import {
  type EnqueueContext,
  type EnqueueMiddleware,
  type EnqueueOrigin,
  type EnqueueRequest,
  type EnqueueRequests,
  type EnqueueRest,
  requestOptions,
} from './enqueue-request.js';
import {
  type EnqueuedJob,
  type EnqueuedJobs,
  type EnqueueOptions,
  enqueueOptions,
  type RequestedOptions,
  requestedOptions,
} from './enqueue-options.js';
import { EnqueuedJobDetails } from './enqueued-job-details.js';
import { toNewJob } from './new-job.js';
import { RecurringClient } from './recurring-client.js';
import {
  type RequestedSignalOptions,
  requestedSignalOptions,
  sendSignal,
  type SendSignalOptions,
  type SignalTarget,
} from './send-signal.js';

export interface JobClientOptions {
  /** Middleware around every call that enqueues jobs; the first is the outermost. None by default. */
  middleware?: readonly EnqueueMiddleware[];

  /** Maximum size of a job's arguments as JSON, in bytes: 1 to 67,108,864; 1,048,576 by default. */
  maxArgsBytes?: number;

  /**
   * How long an idempotency key stays valid, in milliseconds: 1 to 31,536,000,000; 86,400,000 (24 hours) by default.
   */
  idempotencyPeriodMs?: number;
}

const clientOptions: OptionNames<JobClientOptions> = {
  middleware: isMiddlewareList,
  maxArgsBytes: true,
  idempotencyPeriodMs: true,
};

/**
 * Maximum number of jobs to prepare at a time. Calls with more jobs are split into slices of this length, and the
 * storage writes earlier slices while later ones are prepared. A batch is written as a whole.
 */
const sliceLength = 2_000;

/** Enqueues jobs and manages recurring jobs. A client is cheap to create; one per process is enough. */
export class JobClient {
  static {
    brand(this, 'JobClient');
  }

  readonly recurring: RecurringClient;
  readonly #enqueuer: Enqueuer;
  readonly #jobs: JobReader;
  readonly #steps: Steps;
  readonly #ids: IdSource;
  readonly #maxArgsBytes: number;
  readonly #idempotencyPeriodMs: number;
  readonly #middleware: readonly EnqueueMiddleware[];

  /** @throws {TypeError} if `storage` is not a storage, or an option is unknown */
  constructor(
    storage: Pick<JobStorage, 'enqueuer' | 'recurring' | 'clock' | 'jobs' | 'steps'>,
    options: JobClientOptions = {},
  ) {
    checkStorage('JobClient', storage, ['enqueuer', 'recurring', 'clock', 'jobs', 'steps']);
    checkOptions('JobClient', options, clientOptions);
    const { maxArgsBytes = 1_048_576, middleware = [], idempotencyPeriodMs = 86_400_000 } = options;
    this.recurring = new RecurringClient(storage.recurring);
    this.#enqueuer = storage.enqueuer;
    this.#jobs = storage.jobs;
    this.#steps = storage.steps;
    this.#ids = new IdSource(storage.clock);
    this.#maxArgsBytes = checkInteger('maxArgsBytes', maxArgsBytes, bounds.documentBytes);
    this.#idempotencyPeriodMs = checkPeriod('idempotencyPeriodMs', idempotencyPeriodMs);
    this.#middleware = middleware;
  }

  /**
   * Enqueues one job. Resolves once the job is durable or, if a transaction is passed, written in that transaction.
   *
   * @throws {InvalidArgumentsError} if the arguments cannot be stored or do not match the definition's schema
   * @throws {TypeError} if `definition` is not a job definition, or an option is unknown
   * @throws {RangeError} if an option is out of bounds
   * @throws {DuplicateJobError} if another job holds the unique key and `onConflict` is `reject`
   * @throws {IdempotencyConflictError} if the idempotency key was used for a different request
   * @throws {KeyHolderHiddenError} if `includeHolder` is set, but the job that holds a key cannot be shown
   * @throws {UnknownParentError} if the job depends on a job or batch that does not exist or is not visible
   * @throws {StorageUnavailableError} if the storage could not be reached; the job may or may not exist
   */
  async enqueue<Args, Result, Input>(
    definition: JobDefinition<Args, Result, Input>,
    ...[args, options = {}]: EnqueueRest<Input>
  ): Promise<EnqueuedJob<Input, Result>> {
    // Checked again in `toNewJob`, because middleware can change both.
    checkDefinition('enqueue', definition);
    checkOptions('enqueue', options, enqueueOptions);
    const { transaction } = options;
    // The compiler has already checked the arguments against the definition, so erasing the types is safe.
    const request = { definition, args, options: forMiddleware(options) } as EnqueueRequest;
    const [enqueued] = await this.#enqueueThroughMiddleware([request], { transaction });
    return stillThere(enqueued) as EnqueuedJob<Input, Result>;
  }

  /**
   * Enqueues several jobs, either all or none. Throws as {@link enqueue} does.
   *
   * @param transaction see {@link EnqueueOptions}
   */
  async enqueueMany<const Definitions extends readonly JobDefinition[]>(
    requests: EnqueueRequests<Definitions>,
    transaction?: TransactionClient,
  ): Promise<EnqueuedJobs<Definitions>> {
    checkRequests('enqueueMany', requests);
    checkTransaction('enqueueMany: transaction', transaction);
    return (await this.#enqueueThroughMiddleware(requests, { transaction })) as EnqueuedJobs<Definitions>;
  }

  /**
   * Enqueues a batch and its callback, if any, either completely or not at all. A job whose key is held by another job
   * is not created and is not part of the batch. Throws as {@link enqueue} does.
   *
   * @param transaction see {@link EnqueueOptions}
   */
  async enqueueBatch<
    const Definitions extends readonly JobDefinition[],
    Callback extends JobDefinition = JobDefinition,
  >(
    request: BatchRequest<Definitions, Callback>,
    transaction?: TransactionClient,
  ): Promise<EnqueuedBatch<Definitions, Callback>> {
    checkTransaction('enqueueBatch: transaction', transaction);
    return this.#enqueueBatchThroughMiddleware(request, { transaction });
  }

  /**
   * Returns the methods that enqueue, for use on one occasion: job servers hand them to handlers, and an API to the
   * operations of its resources. Their results are plain objects, so that a handler can return them as its own.
   *
   * @param origin called synchronously by each call; if it throws, the call rejects with that error
   */
  boundTo(origin: () => EnqueueOrigin): BoundClient {
    return {
      enqueue: async (definition, ...[args, options = {}]) => {
        checkDefinition('enqueue', definition);
        checkOptions('enqueue', options, requestedOptions);
        const request = { definition, args, options } as EnqueueRequest;
        const [enqueued] = await this.#enqueueThroughMiddleware([request], origin());
        return plain(stillThere(enqueued)) as never;
      },
      enqueueMany: async (requests) => {
        checkRequests('enqueueMany', requests);
        return (await this.#enqueueThroughMiddleware(requests, origin())).map(plain) as never;
      },
      enqueueBatch: async (request) => {
        const { id, jobs, callback } = await this.#enqueueBatchThroughMiddleware(request, origin());
        return { id, jobs: jobs.map(plain), callback: callback && plain(callback) } as never;
      },
      sendSignal: async (target, name, data, options = {}) => {
        checkOptions('sendSignal', options, requestedSignalOptions);
        return this.sendSignal(target, name, data, inTransaction(options, origin().transaction));
      },
    };
  }

  async #enqueueThroughMiddleware(
    requests: readonly EnqueueRequest[],
    origin: EnqueueOrigin,
  ): Promise<EnqueuedJob[]> {
    const enqueue = compose<EnqueueContext, EnqueuedJob[]>(this.#middleware, (context) =>
      this.#enqueue(context, null),
    );
    return enqueue({ ...origin, requests, callback: null });
  }

  async #enqueueBatchThroughMiddleware<
    const Definitions extends readonly JobDefinition[],
    Callback extends JobDefinition,
  >(
    request: BatchRequest<Definitions, Callback>,
    origin: EnqueueOrigin,
  ): Promise<EnqueuedBatch<Definitions, Callback>> {
    checkOptions('enqueueBatch', request, batchOptions);
    checkRequests('enqueueBatch: jobs', request.jobs);
    if (request.callback !== undefined) checkCallback(request.callback);
    const { name = null, jobs: requests, callback = null, callbackWhen: when = 'onDone' } = request;
    if (name !== null) checkText('The name of a batch', name, bounds.keyLength);
    checkCondition(when);
    const id = this.#ids.newId();
    let batch: EnqueuedBatch<Definitions, Callback> | null = null;
    const enqueue = compose<EnqueueContext, EnqueuedJob[]>(this.#middleware, async (context) => {
      const jobs = await this.#enqueue(context, { id, name, when });
      const last = context.callback === null ? null : (jobs.at(-1) ?? null);
      const batchJobs = (last === null ? jobs : jobs.slice(0, -1)) as EnqueuedJobs<Definitions>;
      batch = { id, jobs: batchJobs, callback: last };
      return jobs;
    });
    await enqueue({ ...origin, requests, callback });
    if (batch === null)
      throw new Error('Middleware did not call next() for a batch; to reject a batch, throw instead');
    return batch;
  }

  /**
   * Sends a signal, which handlers receive with `waitFor`. It is kept until the job waits for it; the first of each name
   * counts. Returns the ids of the jobs that have it: empty if the job does not exist or has ended.
   *
   * @param target a job, its id, or the `correlate` key of one or several unfinished jobs, at most 1,000 of them
   * @param data JSON of at most 1 MiB; `null` by default
   * @throws {InvalidArgumentsError} if the data is not JSON
   * @throws {RangeError} if the name, the id or the data is out of bounds
   * @throws {TypeError} if an option is unknown or of the wrong kind
   */
  sendSignal(
    target: SignalTarget,
    name: string,
    data: JsonValue = null,
    options: SendSignalOptions = {},
  ): Promise<string[]> {
    return sendSignal(this.#steps, target, name, data, options);
  }

  /**
   * Reads a job, typed by its definition. Returns `null` if there is no job with this id and the definition's name or one
   * of its aliases.
   */
  async find<Args, Result, Input>(
    definition: JobDefinition<Args, Result, Input>,
    id: string,
  ): Promise<Job<Input, Result> | null> {
    checkDefinition('find', definition);
    isString('find: id', id);
    const job = await this.#jobs.find(id);
    return job !== null && namesOf(definition).includes(job.name) ? (job as Job<Input, Result>) : null;
  }

  /** Enqueues the jobs of one call. If a batch has a callback, the callback is the last element of the result. */
  async #enqueue(
    { requests, callback, transaction, enqueuedBy, resumes, id: ownId }: EnqueueContext,
    batch: { id: string; name: string | null; when: ContinuationCondition } | null,
  ): Promise<EnqueuedJob[]> {
    if (requests.length === 0 && batch === null) return [];
    const jobs: NewJob[] = [];
    const origin =
      enqueuedBy === undefined ? null : { enqueuedBy, ...(resumes !== undefined && { resumes }) };
    const meta = batch === null ? origin : { ...origin, batchId: batch.id };
    const slices = slicesOf(requests, (request) => {
      const job = withMeta(this.#toNewJob(request, jobs), meta);
      if (ownId !== undefined) job.id = ownId;
      jobs.push(job);
      return job;
    });
    if (batch === null) {
      const isLong = requests.length > sliceLength;
      const result = await this.#enqueuer.enqueue(isLong ? slices : await collectJobs(slices), transaction);
      return detailsOf(jobs, result);
    }
    await collectJobs(slices);
    const { id, name, when } = batch;
    const after = { parents: [id], when };
    const last =
      callback === null
        ? null
        : withMeta(this.#toNewJob({ ...callback, options: { ...callback.options, after } }, jobs), origin);
    const result = await this.#enqueuer.enqueueBatch({ id, name, jobs, callback: last }, transaction);
    return detailsOf(last === null ? jobs : [...jobs, last], result);
  }

  /**
   * @param earlier the jobs before this one in the same call
   * @throws {InvalidArgumentsError} if the arguments are invalid or too large
   */
  #toNewJob(request: EnqueueRequest, earlier: readonly NewJob[]): NewJob {
    const job = toNewJob(request, this.#idempotencyPeriodMs, this.#ids, earlier);
    const bytes = excessBytes(job.args, this.#maxArgsBytes);
    if (bytes === null) return job;
    const message = `take ${bytes} bytes as JSON; the limit is ${this.#maxArgsBytes} (maxArgsBytes)`;
    throw new InvalidArgumentsError([{ path: 'args', message }]);
  }
}

const checkTransaction = maybe(isTransaction);

function inTransaction(
  options: RequestedSignalOptions,
  transaction: TransactionClient | undefined,
): SendSignalOptions {
  return transaction === undefined ? options : { ...options, transaction };
}

/** @throws {Error} if middleware has removed the only job of a call */
function stillThere(enqueued: EnqueuedJob | undefined): EnqueuedJob {
  if (enqueued !== undefined) return enqueued;
  throw new Error('Middleware removed the job from the call; to reject a job, throw instead');
}

function plain({ id, queue, created }: EnqueuedJob): EnqueuedJob {
  return { id, queue, created };
}

function withMeta(job: NewJob, meta: JobMeta | null): NewJob {
  return meta === null ? job : { ...job, meta: { ...job.meta, ...meta } };
}

/** @throws {RangeError} if the callback names parents of its own, because it waits for its batch */
function checkCallback(callback: EnqueueRequest): void {
  checkRequest('enqueueBatch: callback', callback);
  if (callback.options?.after !== undefined)
    throw new RangeError('after: a callback waits for its batch and for nothing else: leave out after');
}

function checkRequests(where: string, requests: readonly EnqueueRequest[]): void {
  if (!Array.isArray(requests))
    throw new TypeError(
      `${where} must be given a list of jobs, such as [{ definition, args }], not ${shown(requests)}`,
    );
  for (const request of requests) checkRequest(where, request as EnqueueRequest);
}

function checkRequest(where: string, request: EnqueueRequest): void {
  checkOptions(where, request, requestOptions);
  checkDefinition(where, request.definition);
}

/**
 * Returns the options without the transaction. Middleware receives the transaction separately, because it applies to
 * the whole call and cannot be changed.
 */
function forMiddleware(options: EnqueueOptions): RequestedOptions {
  if (options.transaction === undefined) return options;
  const { transaction: _, ...rest } = options;
  return rest;
}

/**
 * Number of elements between two readings of the clock. Reading the clock takes about as long as processing one of these
 * elements.
 */
const elementsPerClockRead = 64;

/** Maps requests in time slices, and yields the results in slices of {@link sliceLength}. */
async function* slicesOf(
  requests: readonly EnqueueRequest[],
  work: (request: EnqueueRequest) => NewJob,
): AsyncGenerator<NewJob[]> {
  for (let from = 0; from < requests.length; from += sliceLength) {
    const slice = requests.slice(from, from + sliceLength);
    const isShort = slice.length < elementsPerClockRead; // saves a promise for each job that is enqueued alone
    yield isShort ? slice.map(work) : await mapInSlices(slice, work, elementsPerClockRead);
  }
}

function detailsOf(jobs: readonly NewJob[], result: EnqueueResult): Promise<EnqueuedJobDetails[]> {
  return mapInSlices(jobs, (job) => new EnqueuedJobDetails(job, result), elementsPerClockRead);
}
