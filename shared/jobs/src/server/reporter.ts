import { StorageUnavailableError } from '../job/errors.js';
import type { Claim } from '../job/job.js';
import type { JobReport } from '../storage/job-reports.js';
import type { JobStorage } from '../storage/storage.js';
import { AttemptReport, type LogBounds, type OnLogLine } from './attempt-report.js';
import type { Logger } from './logger.js';
import { outageOf } from './storage-outage.js';

/** How long reports are buffered before they are written, in milliseconds. */
const gatherMs = 250;

/** If an attempt has at least this many unwritten log lines, the write does not wait for `gatherMs`. */
const manyLines = 500;

const maxRetryMs = 5_000;

/** Writes the progress and log lines of running attempts. Buffers them for a short time and writes them together. */
export class Reporter {
  readonly #store: Pick<JobStorage, 'reports' | 'clock'>;
  readonly #logger: Logger;
  readonly #bounds: LogBounds;
  readonly #pending = new Set<AttemptReport>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #retryMs = 0;

  constructor(store: Pick<JobStorage, 'reports' | 'clock'>, bounds: LogBounds, logger: Logger) {
    this.#store = store;
    this.#bounds = bounds;
    this.#logger = logger;
  }

  /** @param onLine called with each log line; by default, nothing is */
  open(claim: Claim, onLine?: OnLogLine): AttemptReport {
    const onPending = (report: AttemptReport): void => this.#note(report);
    return new AttemptReport(claim, this.#bounds, this.#store.clock, onPending, undefined, onLine);
  }

  /** Ends a report and writes the rest of it. Resolves when everything is stored or has been dropped. */
  async flush(report: AttemptReport): Promise<void> {
    report.end();
    while (report.isPending) {
      this.#pending.add(report);
      await this.#write();
    }
  }

  #note(report: AttemptReport): void {
    this.#pending.add(report);
    if (report.pendingLines >= manyLines && this.#round === undefined) void this.#write();
    else this.#plan();
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => {
      // If a round is already running, `#write` does not start another one. That round plans the next one when it ends.
      this.#timer = undefined;
      void this.#write();
    }, gatherMs);
  }

  /** Starts a round, or waits for the current one. */
  #write(): Promise<void> {
    this.#round ??= this.#runRound().finally(() => {
      this.#round = undefined;
      for (const report of this.#pending) if (!report.isPending) this.#pending.delete(report);
      if (this.#pending.size > 0) this.#plan();
    });
    return this.#round;
  }

  async #runRound(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const taken = new Map<AttemptReport, JobReport>();
    for (const report of this.#pending) {
      const pendingReport = report.take();
      if (pendingReport !== null) taken.set(report, pendingReport);
    }
    if (taken.size > 0) await this.#writeAll(taken);
  }

  async #writeAll(taken: ReadonlyMap<AttemptReport, JobReport>): Promise<void> {
    try {
      const stale = await this.#store.reports.report([...taken.values()]);
      const lost = new Set(stale.map(attemptOf));
      for (const [report, pendingReport] of taken) {
        if (lost.has(attemptOf(pendingReport.claim))) report.discard();
        else report.written(pendingReport);
      }
      this.#retryMs = 0;
      outageOf(this.#logger).succeeded(this);
    } catch (error) {
      await this.#failed(error, taken);
    }
  }

  /**
   * Handles a failed write. If the storage was unavailable, waits before the next try. Otherwise, writes the reports
   * one by one and drops the data that fails again. This keeps invalid data from delaying the outcomes of jobs.
   */
  async #failed(error: unknown, taken: ReadonlyMap<AttemptReport, JobReport>): Promise<void> {
    if (!(error instanceof StorageUnavailableError)) {
      // An invalid report of one attempt must not affect the others.
      if (taken.size > 1) for (const one of taken) await this.#writeAll(new Map([one]));
      else {
        this.#logger.error({ err: error }, 'writing logs and progress failed; they were dropped');
        for (const [report, pendingReport] of taken) report.written(pendingReport);
      }
      return;
    }
    this.#retryMs = Math.min(Math.max(100, this.#retryMs * 2), maxRetryMs);
    outageOf(this.#logger).failed(this, error);
    await new Promise((resolve) => setTimeout(resolve, this.#retryMs));
  }
}

/**
 * Returns a key that identifies an attempt. After a lost lease, a server can have reports of two attempts of the same
 * job, so the job id alone is not enough.
 */
function attemptOf({ jobId, attempt }: Claim): string {
  return `${jobId} ${attempt}`;
}
