import type { Batch } from '../job/batch.js';
import type { ControlOptions } from './job-control.js';
import type { JobCount } from './job-reader.js';
import type { TransactionClient } from './transaction.js';

export interface BatchListQuery {
  /** By creation. `newest` by default. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Rows to skip; 0 by default. */
  readonly offset?: number;
  /** Only batches that come after the one with this id in the chosen order. */
  readonly after?: string;
}

/** The result of cancelling a batch. */
export type BatchControlResult =
  /** `changed` is `false` if none of its jobs was left to cancel. */
  | { readonly outcome: 'ok'; readonly batch: Batch; readonly changed: boolean }
  /** It has finished; nothing changed. */
  | { readonly outcome: 'illegal'; readonly batch: Batch }
  | { readonly outcome: 'unknown' };

/** Reads and controls batches. A batch is kept for 30 days after its end. */
export interface Batches {
  /**
   * `null` if there is no such batch.
   *
   * @param transaction of the caller's, which may have created it
   */
  find(id: string, transaction?: TransactionClient): Promise<Batch | null>;
  list(query: BatchListQuery): Promise<Batch[]>;
  /** Up to 10 000. */
  count(): Promise<JobCount>;
  /**
   * Cancels every job of the batch that has not finished, as {@link JobControl.cancel} does. The batch's counts follow later,
   * as with all jobs that end. Without a transaction of the caller's, the jobs of a large batch are cancelled in several
   * transactions; the audit entry is stored with the first of them.
   */
  cancel(id: string, options?: ControlOptions<Batch, BatchControlResult>): Promise<BatchControlResult>;
}
