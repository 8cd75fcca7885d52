import type { Batch, NewBatch } from '../job/batch.js';
import type { Receipt } from './receipt.js';
import type { JobCount } from './job-count.js';
import type { TransactionClient } from './transaction.js';

export interface BatchListQuery {
  /** Of creation. `newest` by default. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Rows to pass over; 0 by default. */
  readonly offset?: number;
  /** Only batches that come after the one with this id in the chosen order. */
  readonly after?: string;
}

/** Where clients drop batches. */
export interface BatchIntake {
  /**
   * The batch, its jobs and its follow-up: all or nothing. Jobs that are not created, for others hold their keys, are no
   * part of it. As `enqueueMany` in everything else.
   */
  enqueueBatch(batch: NewBatch, transaction?: TransactionClient): Promise<Receipt>;
}

/** What people look at. A batch is kept for 30 days after its end. */
export interface BatchReader {
  /**
   * `null` if there is no such batch.
   *
   * @param transaction of the caller's, which may have made it
   */
  findBatch(id: string, transaction?: TransactionClient): Promise<Batch | null>;
  listBatches(query: BatchListQuery): Promise<Batch[]>;
  /** Up to 10 000. */
  countBatches(): Promise<JobCount>;
}

/** What became of the wish to cancel a batch. */
export type BatchControlResult =
  /** `changed` is `false` if nothing of it was left to cancel. */
  | { readonly outcome: 'ok'; readonly batch: Batch; readonly changed: boolean }
  /** It has finished; nothing changed. */
  | { readonly outcome: 'illegal'; readonly batch: Batch }
  | { readonly outcome: 'unknown' };

/** What operators do to batches. */
export interface BatchControl {
  /**
   * Cancels every job of the batch that has not finished, as `cancelJob` does: those that wait at once, running ones by request.
   *
   * @param check gets the batch as it is before anything is done; what it throws, nothing has been changed then, this rejects with
   */
  cancelBatch(id: string, check?: (batch: Batch) => void): Promise<BatchControlResult>;
}
