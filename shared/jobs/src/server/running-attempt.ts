import type { BoundClient } from '../client/bound-client.js';
import type { JobClient } from '../client/job-client.js';
import { JobCancelledError, JobTimeoutError } from '../job/errors.js';
import type { Claim, ClaimedJob, JsonText, JsonValue, SuspendOutcome } from '../job/job.js';
import { readTraceId } from '../job/meta.js';
import type { RetryRules } from '../job/retry.js';
import type { JobLog } from '../job/job-log.js';
import type { JobReport } from '../storage/job-reports.js';
import type { JobStorage } from '../storage/storage.js';
import type { TransactionClient } from '../storage/transaction.js';
import { type AttemptReader, StoredAttemptReader } from './attempt-reader.js';
import type { AttemptReport } from './attempt-report.js';
import { type ContextReads, contextReads } from './context-reads.js';
import type { JobContext, RunningJob } from './handler.js';
import type { Logger } from './logger.js';
import type { Reporter } from './reporter.js';
import { JobSteps } from './steps/job-steps.js';
import type { AroundPart } from './steps/step-work.js';

/** Converts a claimed job to the form that handlers and listeners receive. */
export function toRunningJob({
  claim,
  name,
  args,
  maxAttempts,
  createdAt,
  meta,
}: ClaimedJob): RunningJob<JsonValue> {
  const { jobId: id, queue, attempt } = claim;
  return { id, name, queue, args, attempt, maxAttempts, createdAt, traceparent: meta?.traceparent ?? null };
}

export interface AttemptOptions {
  readonly store: Pick<JobStorage, 'batches' | 'clock' | 'completions' | 'jobs' | 'reports' | 'steps'>;
  readonly reporter: Reporter;
  /** The client that the handler enqueues with. */
  readonly client: JobClient;
  /** Serializes the handler's return value. Throws if the value is not JSON, is too large or violates the schema. */
  readonly toResult: (value: unknown) => JsonText;
  /** Serializes the result of a step, in the same way but without a schema. */
  readonly toStepResult: (value: unknown, root: string) => JsonText;
  readonly retryRules: RetryRules;
  readonly logger: Logger;
  /** Whether the handler's log lines also go to the logger. */
  readonly logHandlerLines: boolean;
}

/** Observes an attempt from middleware, which does not see its parts, nor how it ends if its handler does not. */
export interface AttemptObserver {
  /** Called around each attempt of a step, and around `transaction`. */
  readonly around: AroundPart;
  /** Called when the attempt is suspended, with `null`, and when the server gives up on its handler, with the reason. */
  readonly leftHandler: (reason: Error | null) => void;
}

/** Returns the fields with which log lines identify an attempt: its job, and the trace id if the job has one. */
export function logFieldsOf({ name, claim, maxAttempts, meta }: ClaimedJob): object {
  const { jobId: id, queue, attempt } = claim;
  const traceId = readTraceId(meta?.traceparent);
  return { job: { id, name, queue, attempt, maxAttempts }, ...(traceId !== null && { traceId }) };
}

/** One run of a handler. Also serves as the handler's context. */
export class RunningAttempt implements JobContext<JsonValue> {
  readonly claim: Claim;
  readonly args: JsonValue;
  readonly job: RunningJob<JsonValue>;
  readonly startedMs = performance.now();
  /** None, unless middleware sets one before it calls the handler. */
  observer: AttemptObserver | undefined;
  readonly #claimed: ClaimedJob;
  readonly #options: AttemptOptions;
  /** Created when the handler first uses one of them. */
  #contextReads: ContextReads | undefined;
  /** Created on first use. Creating a controller takes a tenth as long as running a job with an empty handler. */
  #abort: AbortController | undefined;
  /** Created when the handler first uses `log` or `progress`. */
  #report: AttemptReport | undefined;
  /** Created when the handler first enqueues. */
  #bound: BoundClient | undefined;
  /** The transaction in which the handler's work runs; `undefined` outside of that work. */
  #open: TransactionClient | undefined;
  #recorded = false;
  /**
   * Resolves when the handler's transaction has committed or rolled back; `undefined` if the handler has started no
   * transaction.
   */
  #transaction: Promise<void> | undefined;
  #abandonment: AbortController | undefined;
  /** Created when the handler first uses one of them. */
  #steps: JobSteps | undefined;
  readonly #suspend: (outcome: SuspendOutcome) => void;
  /** The calls that have joined the open transaction. */
  readonly #joining: Promise<unknown>[] = [];

  /** @param suspend called when the handler has nothing left to do but to wait */
  constructor(job: ClaimedJob, options: AttemptOptions, suspend: (outcome: SuspendOutcome) => void) {
    this.#suspend = suspend;
    this.claim = job.claim;
    this.args = job.args;
    this.job = toRunningJob(job);
    this.#claimed = job;
    this.#options = options;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  get #abandoned(): AbortController {
    this.#abandonment ??= new AbortController();
    return this.#abandonment;
  }

  get log(): JobLog {
    return this.#reporting.log;
  }

  get progress(): (percent: number, message?: string) => void {
    return this.#reporting.progress;
  }

  get enqueue(): BoundClient['enqueue'] {
    return this.#client.enqueue;
  }

  get enqueueMany(): BoundClient['enqueueMany'] {
    return this.#client.enqueueMany;
  }

  get enqueueBatch(): BoundClient['enqueueBatch'] {
    return this.#client.enqueueBatch;
  }

  get sendSignal(): BoundClient['sendSignal'] {
    return this.#client.sendSignal;
  }

  get #client(): BoundClient {
    this.#bound ??= this.#joiningClient();
    return this.#bound;
  }

  #joiningClient(): BoundClient {
    const bound = this.#options.client.boundTo(() => {
      this.#abandonment?.signal.throwIfAborted();
      return { transaction: this.#open, enqueuedBy: this.claim.jobId };
    });
    const joined =
      <Given extends unknown[]>(call: (...given: Given) => Promise<unknown>) =>
      (...given: Given) =>
        this.#joined(() => call(...given));
    return {
      enqueue: joined(bound.enqueue),
      enqueueMany: joined(bound.enqueueMany),
      enqueueBatch: joined(bound.enqueueBatch),
      sendSignal: joined(bound.sendSignal),
    } as BoundClient;
  }

  /** Has an open transaction, or a suspension, wait for a call, even if the handler does not. */
  #joined<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    const answer = this.#steps === undefined ? call() : this.#steps.during(call);
    if (this.#open !== undefined) this.#joining.push(answer);
    return answer;
  }

  get step(): JobSteps['step'] {
    return this.#usedSteps.step;
  }

  get sleep(): JobSteps['sleep'] {
    return this.#usedSteps.sleep;
  }

  get waitFor(): JobSteps['waitFor'] {
    return this.#usedSteps.waitFor;
  }

  get enqueueAndWait(): JobSteps['enqueueAndWait'] {
    return this.#usedSteps.enqueueAndWait;
  }

  get #usedSteps(): JobSteps {
    const { store, client, retryRules, toStepResult, logger } = this.#options;
    this.#steps ??= new JobSteps({
      claim: this.claim,
      store: store.steps,
      jobs: store.jobs,
      clock: store.clock,
      client,
      retryRules,
      toResult: toStepResult,
      signal: this.signal,
      abandoned: this.#abandoned.signal,
      warn: (message) => {
        this.log.warn(message);
        logger.warn({ claim: this.claim }, message);
      },
      isInTransaction: () => this.#open !== undefined,
      suspend: (outcome) => {
        this.observer?.leftHandler(null);
        this.#suspend(outcome);
      },
      ...(this.observer !== undefined && { around: this.observer.around }),
    });
    return this.#steps;
  }

  /**
   * Stores what became of failed steps. Must be called when the handler has ended.
   *
   * @param thrown what the handler threw, if it did
   */
  async endSteps(thrown?: { readonly error: unknown }): Promise<void> {
    await this.#steps?.end(thrown);
  }

  /** Whether the handler has used steps. */
  get hasSteps(): boolean {
    return this.#steps !== undefined;
  }

  get parents(): ContextReads['parents'] {
    return this.#reads.parents;
  }

  get batch(): ContextReads['batch'] {
    return this.#reads.batch;
  }

  get earlierErrors(): ContextReads['earlierErrors'] {
    return this.#reads.earlierErrors;
  }

  /** What a handler in a thread has the main thread read. */
  get reader(): AttemptReader {
    return new StoredAttemptReader(this.#options.store, this.#claimed);
  }

  get #reads(): ContextReads {
    this.#contextReads ??= contextReads(this.reader);
    return this.#contextReads;
  }

  get #reporting(): AttemptReport {
    const { reporter, logger, logHandlerLines } = this.#options;
    this.#report ??= reporter.open(
      this.claim,
      logHandlerLines
        ? (level, { message, fields }) => {
            const values: unknown = fields === null ? null : JSON.parse(fields);
            logger[level](
              { ...logFieldsOf(this.#claimed), ...(values !== null && { fields: values }) },
              message,
            );
          }
        : undefined,
    );
    return this.#report;
  }

  /** Whether the handler has reported something that is not stored yet. */
  get unreported(): boolean {
    return this.#report?.isPending === true;
  }

  /** Ignores further reports from the handler. Resolves when all earlier reports are stored or have been dropped. */
  async flushReport(): Promise<void> {
    if (this.#report !== undefined) await this.#options.reporter.flush(this.#report);
  }

  /** Whether `transaction` has already stored the outcome. */
  get outcomeStored(): boolean {
    return this.#recorded;
  }

  /** Whether the signal was aborted because the job was cancelled. */
  get cancelled(): boolean {
    return this.#abort?.signal.reason instanceof JobCancelledError;
  }

  /** The error for exceeding the time limit; `null` if the signal has not aborted or has aborted for another reason. */
  get timeout(): JobTimeoutError | null {
    const reason: unknown = this.#abort?.signal.reason;
    return reason instanceof JobTimeoutError ? reason : null;
  }

  abort(reason: Error): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }

  /**
   * Ends an attempt that has lost its lease or is about to be released. Aborts the signal and drops unwritten reports.
   * Resolves as {@link abandon} does.
   */
  drop(reason: Error): Promise<void> {
    this.#report?.discard();
    this.abort(reason);
    return this.abandon(reason);
  }

  /**
   * Gives up on the handler and aborts the handler's transaction. A transaction that is already committing continues.
   * Resolves when the handler's latest transaction has ended.
   */
  async abandon(reason: Error): Promise<void> {
    this.observer?.leftHandler(reason);
    this.#abandoned.abort(reason);
    await this.#transaction;
  }

  /** A new function each time, which works without `this`. Few handlers use it, so it is not made for each attempt. */
  get transaction(): JobContext<JsonValue>['transaction'] {
    return (work) => {
      const complete = (): ReturnType<typeof work> => this.#completeInTransaction(work);
      const completed = (): ReturnType<typeof work> =>
        this.observer === undefined ? complete() : this.observer.around({ kind: 'transaction' }, complete);
      return this.#steps === undefined ? completed() : this.#steps.during(completed);
    };
  }

  async #completeInTransaction<Result>(
    work: (client: TransactionClient) => Promise<Result>,
  ): Promise<Result> {
    if (this.#open !== undefined)
      throw new TypeError('transaction is open already: use the client that it has passed to its function');
    const { store, toResult } = this.#options;
    let result: { value: Result } | undefined;
    let pendingReport: JobReport | null = null;
    const complete = async (client: TransactionClient): Promise<JsonText> => {
      this.#open = client;
      try {
        result = { value: await work(client) };
      } finally {
        await Promise.allSettled(this.#joining);
        this.#open = undefined;
      }
      const text = toResult(result.value);
      // The report is part of the transaction, because the lease ends when the transaction commits.
      pendingReport = this.#report?.take(true) ?? null;
      if (pendingReport !== null) await store.reports.report([pendingReport], client);
      return text;
    };
    const { signal } = this.#abandoned;
    signal.throwIfAborted();
    const completed = store.completions.completeInTransaction(this.claim, complete, signal);
    this.#transaction = completed.catch(() => undefined); // `await completed` below rethrows the error
    await completed;
    if (pendingReport !== null) this.#report?.written(pendingReport);
    if (result === undefined) throw new Error('The storage did not run the work of the transaction');
    this.#recorded = true;
    return result.value;
  }
}
