import type { Batch } from '../job/batch.js';
import type { BatchControlResult, Batches, BatchListQuery } from '../storage/batches.js';
import type { ControlOptions } from '../storage/job-control.js';
import type { JobCount } from '../storage/job-reader.js';
import type { MemoryControl } from './memory-control.js';
import type { MemoryJobs } from './memory-jobs.js';
import { refuseTransaction } from './refuse-transaction.js';

/** The batches of one process. */
export class MemoryBatches implements Batches {
  readonly #jobs: MemoryJobs;
  readonly #control: MemoryControl;

  constructor(jobs: MemoryJobs, control: MemoryControl) {
    this.#jobs = jobs;
    this.#control = control;
  }

  async find(id: string): Promise<Batch | null> {
    const batch = this.#jobs.batches.find(id);
    return batch === undefined ? null : { ...batch };
  }

  async list(query: BatchListQuery): Promise<Batch[]> {
    return this.#jobs.batches.list(query);
  }

  async count(): Promise<JobCount> {
    return { count: this.#jobs.batches.size, exact: true };
  }

  async cancel(id: string, { check, transaction }: ControlOptions<Batch> = {}): Promise<BatchControlResult> {
    refuseTransaction(transaction);
    const batch = this.#jobs.batches.find(id);
    if (batch === undefined) return { outcome: 'unknown' };
    check?.({ ...batch });
    if (batch.finishedAt !== null) return { outcome: 'illegal', batch: { ...batch } };
    const ids = [...this.#jobs.all()].filter(({ meta }) => meta?.batchId === batch.id).map((job) => job.id);
    const results = await Promise.all(ids.map((jobId) => this.#control.cancel(jobId)));
    const changed = results.some((result) => result.outcome === 'ok' && result.changed);
    return { outcome: 'ok', batch: { ...batch }, changed };
  }
}
