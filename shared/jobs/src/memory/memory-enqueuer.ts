import type { NewBatch } from '../job/batch.js';
import type { NewJob } from '../job/job.js';
import type { ActionOptions } from '../storage/audit-log.js';
import {
  collectJobs,
  type Enqueuer,
  type EnqueueResult,
  enqueueResultOf,
  type NewJobs,
} from '../storage/enqueuer.js';
import { noHolders } from '../storage/key-resolution.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { MemoryAuditLog } from './memory-audit.js';
import type { MemoryJobs } from './memory-jobs.js';
import { refuseTransaction } from './refuse-transaction.js';

export class MemoryEnqueuer implements Enqueuer {
  readonly #jobs: MemoryJobs;
  readonly #audit: MemoryAuditLog;

  constructor(jobs: MemoryJobs, audit: MemoryAuditLog) {
    this.#jobs = jobs;
    this.#audit = audit;
  }

  async enqueue(jobs: NewJobs, transaction?: TransactionClient): Promise<EnqueueResult> {
    return this.#add(await collectJobs(jobs), null, transaction);
  }

  async enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult> {
    const { jobs, callback } = batch;
    return this.#add(callback === null ? jobs : [...jobs, callback], batch, transaction);
  }

  async enqueueAudited(
    job: NewJob,
    { transaction, audit }: ActionOptions<EnqueueResult> = {},
  ): Promise<EnqueueResult> {
    refuseTransaction(transaction);
    const holderId = this.#jobs.holderOf(job);
    const holders = holderId === null ? noHolders : new Map([[job.id, holderId]]);
    const entry = audit?.({ ...enqueueResultOf(null), holders }) ?? null;
    const record = entry === null ? null : this.#audit.prepare(entry);
    const result = this.#add([job], null, undefined);
    record?.();
    return result;
  }

  #add(
    jobs: readonly NewJob[],
    batch: NewBatch | null,
    transaction: TransactionClient | undefined,
  ): EnqueueResult {
    this.#jobs.requireOpen();
    return this.#jobs.add(jobs, batch, transaction);
  }
}
