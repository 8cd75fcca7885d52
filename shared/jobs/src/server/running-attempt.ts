import { JobCancelledError, JobTimeoutError } from '../job/errors.js';
import type { Claim, ClaimedJob, JsonText, JsonValue } from '../job/job.js';
import type { JobLog } from '../job/job-log.js';
import type { JobReport } from '../storage/job-reports.js';
import type { JobStorage } from '../storage/storage.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { AttemptReport } from './attempt-report.js';
import type { JobContext, RunningJob } from './handler.js';
import type { Reporter } from './reporter.js';

/** What handlers and listeners see of a job. */
export function toRunningJob({ claim, name, maxAttempts, createdAt, meta }: ClaimedJob): RunningJob {
  const { jobId: id, queue, attempt } = claim;
  return { id, name, queue, attempt, maxAttempts, createdAt, traceparent: meta?.traceparent ?? null };
}

export interface AttemptOptions {
  readonly store: Pick<JobStorage, 'reports' | 'completions'>;
  readonly reporter: Reporter;
  /** Turns a result into what the storage keeps. */
  readonly toResult: (value: unknown) => JsonText;
}

/** One run of a handler, and all that the handler sees of it. */
export class RunningAttempt implements JobContext<JsonValue> {
  readonly claim: Claim;
  readonly args: JsonValue;
  readonly job: RunningJob;
  readonly #options: AttemptOptions;
  /** Made when it is first asked for: for a job that does nothing it was a tenth of the cost. */
  #abort: AbortController | undefined;
  /** Made when the handler first says something. */
  #report: AttemptReport | undefined;
  #recorded = false;
  /** Its transaction; resolves when that has ended, however it did. */
  #transaction: Promise<void> | undefined;
  #abandonment: AbortController | undefined;

  constructor(job: ClaimedJob, options: AttemptOptions) {
    this.claim = job.claim;
    this.args = job.args;
    this.job = toRunningJob(job);
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

  get #reporting(): AttemptReport {
    this.#report ??= this.#options.reporter.open(this.claim);
    return this.#report;
  }

  /** Whether the handler has said something that is not written yet. */
  get unreported(): boolean {
    return this.#report?.isPending === true;
  }

  /** The handler has ended: resolves when all that it said has been written, or never will be. */
  async reported(): Promise<void> {
    if (this.#report !== undefined) await this.#options.reporter.flush(this.#report);
  }

  /** Whether the outcome has been written already, with the handler's own work. */
  get recorded(): boolean {
    return this.#recorded;
  }

  /** Whether somebody cancelled the job. */
  get cancelled(): boolean {
    return this.#abort?.signal.reason instanceof JobCancelledError;
  }

  /** The error it ends with because its time was up; `null` if it was not, or if the job had been cancelled before. */
  get timeout(): JobTimeoutError | null {
    const reason: unknown = this.#abort?.signal.reason;
    return reason instanceof JobTimeoutError ? reason : null;
  }

  abort(reason: Error): void {
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }

  /** The claim is gone: aborts, and what has not been written of the handler's reports never will be. Resolves as {@link abandon} does. */
  drop(reason: Error): Promise<void> {
    this.#report?.discard();
    this.abort(reason);
    return this.abandon(reason);
  }

  /** The job goes on without this attempt. Resolves when its transaction, if it has one, holds the job no longer. */
  async abandon(reason: Error): Promise<void> {
    this.#abandoned.abort(reason);
    await this.#transaction;
  }

  // Bound, for handlers take it out of the context.
  readonly transaction = async <Result>(
    work: (client: TransactionClient) => Promise<Result>,
  ): Promise<Result> => {
    const { store, toResult } = this.#options;
    let result: { value: Result } | undefined;
    let news: JobReport | null = null;
    const complete = async (client: TransactionClient): Promise<JsonText> => {
      result = { value: await work(client) };
      const text = toResult(result.value);
      // After the commit the claim is gone, and what a handler has said could no longer be written.
      news = this.#report?.take(true) ?? null;
      if (news !== null) await store.reports.report([news], client);
      return text;
    };
    const { signal } = this.#abandoned;
    signal.throwIfAborted();
    const completed = store.completions.completeWithin(this.claim, complete, signal);
    this.#transaction = completed.catch(() => undefined); // the handler hears of it
    await completed;
    if (news !== null) this.#report?.written(news);
    if (result === undefined) throw new Error('The storage did not run the work of the transaction');
    this.#recorded = true;
    return result.value;
  };
}
