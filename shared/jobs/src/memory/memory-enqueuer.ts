import type { NewBatch } from '../job/batch.js';
import { collectJobs, type Enqueuer, type EnqueueResult, type NewJobs } from '../storage/enqueuer.js';
import type { TransactionClient } from '../storage/transaction.js';
import type { MemoryJobs } from './memory-jobs.js';
import { refuseTransaction } from './refuse-transaction.js';

export class MemoryEnqueuer implements Enqueuer {
  readonly #jobs: MemoryJobs;

  constructor(jobs: MemoryJobs) {
    this.#jobs = jobs;
  }

  async enqueue(jobs: NewJobs, transaction?: TransactionClient): Promise<EnqueueResult> {
    const all = await collectJobs(jobs);
    this.#jobs.requireOpen();
    return transaction === undefined ? this.#jobs.add(all) : this.#jobs.addAtCommit(all, transaction);
  }

  async enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<EnqueueResult> {
    this.#jobs.requireOpen();
    refuseTransaction(transaction);
    return this.#jobs.addBatch(batch);
  }
}
