import type { NewBatch } from '../job/batch.js';
import type { NewJob } from '../job/job.js';
import { collectJobs, type Enqueuer, type EnqueueResult, type NewJobs } from '../storage/enqueuer.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { MemoryJobs } from './memory-jobs.js';

export class MemoryEnqueuer implements Enqueuer {
  readonly #jobs: MemoryJobs;

  constructor(jobs: MemoryJobs) {
    this.#jobs = jobs;
  }

  async enqueue(jobs: NewJobs, transaction?: TransactionClient): Promise<EnqueueResult> {
    return this.#add(await collectJobs(jobs), null, transaction);
  }

  async enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult> {
    const { jobs, callback } = batch;
    return this.#add(callback === null ? jobs : [...jobs, callback], batch, transaction);
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
