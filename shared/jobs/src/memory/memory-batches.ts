import type { Batch } from '../job/batch.js';
import { isFinished } from '../job/state.js';
import {
  batchControlResult,
  type BatchControlResult,
  type Batches,
  type BatchFilter,
  type BatchListQuery,
  type CancelBatchOptions,
} from '../storage/batches.js';
import type { JobCount } from '../storage/job-reader.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryControl } from './memory-control.js';
import type { MemoryJobs } from './memory-jobs.js';
import { refuseTransaction } from './refuse-transaction.js';

export class MemoryBatches implements Batches {
  readonly #jobs: MemoryJobs;
  readonly #control: MemoryControl;
  readonly #audit: MemoryAuditLog;

  constructor(jobs: MemoryJobs, control: MemoryControl, audit: MemoryAuditLog) {
    this.#audit = audit;
    this.#jobs = jobs;
    this.#control = control;
  }

  async find(id: string): Promise<Batch | null> {
    const batch = this.#jobs.batches.find(id);
    return batch === undefined ? null : { ...batch };
  }

  async findMany(ids: readonly string[]): Promise<Batch[]> {
    return ids.flatMap((id) => this.#jobs.batches.find(id) ?? []).map((batch) => ({ ...batch }));
  }

  async list(query: BatchListQuery): Promise<Batch[]> {
    return this.#jobs.batches.list(query);
  }

  async count(filter?: BatchFilter): Promise<JobCount> {
    return { count: this.#jobs.batches.matching(filter).length, exact: true };
  }

  async cancel(id: string, options: CancelBatchOptions = {}): Promise<BatchControlResult> {
    refuseTransaction(options.transaction);
    const batch = (await this.find(id)) ?? undefined;
    if (batch !== undefined) options.check?.(batch);
    const jobs = [...this.#jobs.all()].filter(
      ({ meta, state, cancelRequestedAt }) =>
        meta?.batchId === batch?.id && !isFinished(state) && cancelRequestedAt === null,
    );
    const result = batchControlResult(batch, jobs.length > 0);
    this.#audit.addOf(options, result);
    if (batch === undefined || result.outcome !== 'ok') return result;
    await Promise.all(jobs.map((job) => this.#control.cancel(job.id, { reason: options.reason })));
    return { ...result, batch: (await this.find(id)) ?? batch };
  }
}
