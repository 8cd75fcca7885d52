import type { Batch, BatchState } from '../job/batch.js';
import type { ControlOptions } from './job-control.js';
import type { JobCount } from './job-reader.js';
import type { TransactionClient } from './transaction.js';

/** Selects batches. A batch must match every member that is present, and one of the values of a list. */
export interface BatchFilter {
  readonly state?: readonly BatchState[];
  readonly name?: readonly string[];
  /** Batches created at or after this time, according to the time encoded in their ids. */
  readonly createdAfter?: Date;
  /** Batches created before this time, according to the time encoded in their ids. */
  readonly createdBefore?: Date;
  /** Batches that finished at or after this time. Unfinished batches do not match. */
  readonly finishedAfter?: Date;
  /** Batches that finished before this time. Unfinished batches do not match. */
  readonly finishedBefore?: Date;
}

export interface BatchListQuery {
  readonly filter?: BatchFilter;
  /** Which batches come first, by creation time; `newest` by default. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Number of batches to skip; 0 by default. */
  readonly offset?: number;
  /** Only batches that follow the batch with this id in the chosen order. */
  readonly after?: string;
}

/** The result of cancelling a batch. */
export type BatchControlResult =
  /** The batch was not finished. `changed` is `false` if there was no job left to cancel. */
  | { readonly outcome: 'ok'; readonly batch: Batch; readonly changed: boolean }
  /** The batch has already finished; nothing changed. */
  | { readonly outcome: 'illegal'; readonly batch: Batch }
  | { readonly outcome: 'unknown' };

/**
 * Returns the result of cancelling a batch.
 *
 * @param batch the batch before the change; `undefined` if it does not exist
 * @param changed whether there was a job left to cancel
 */
export function batchControlResult(batch: Batch | undefined, changed: boolean): BatchControlResult {
  if (batch === undefined) return { outcome: 'unknown' };
  return batch.finishedAt === null ? { outcome: 'ok', batch, changed } : { outcome: 'illegal', batch };
}

export interface CancelBatchOptions extends ControlOptions<Batch, BatchControlResult> {
  /** Why, as for {@link CancelOptions.reason}. */
  readonly reason?: string | null | undefined;
}

/** Reads and controls batches. The Postgres storage keeps a batch for 30 days after the batch finishes. */
export interface Batches {
  /**
   * Returns a batch; `null` if it does not exist.
   *
   * @param transaction the caller's transaction; its uncommitted changes are visible
   */
  find(id: string, transaction?: TransactionClient): Promise<Batch | null>;
  /** Returns the batches with these ids, in no particular order. Ignores ids that are not UUIDs or belong to no batch. */
  findMany(ids: readonly string[]): Promise<Batch[]>;
  list(query: BatchListQuery): Promise<Batch[]>;
  /** Counts the batches that match; all by default. May stop counting at 10,000; the count is then marked as inexact. */
  count(filter?: BatchFilter): Promise<JobCount>;
  /**
   * Cancels every unfinished job in the batch, as {@link JobControl.cancel} does. The batch's counts are updated in the
   * background. A large batch is cancelled in several transactions, or in the caller's transaction if there is one. The
   * audit entry is stored in the first transaction.
   */
  cancel(id: string, options?: CancelBatchOptions): Promise<BatchControlResult>;
}
