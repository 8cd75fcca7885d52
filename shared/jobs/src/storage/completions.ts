import type { Claim, Completion } from '../job/job.js';
import type { TransactionWork } from './transaction.js';

/** Stores how attempts ended. Every write is fenced: it has no effect once its claim is no longer valid. */
export interface Completions {
  /**
   * Stores outcomes. Returns the claims that were no longer valid; their outcomes changed nothing. Delays are clamped
   * to their bounds. If one outcome cannot be stored, its job fails with the reason as the error; the other outcomes
   * are not affected.
   */
  complete(completions: readonly Completion[]): Promise<Claim[]>;
  /**
   * Runs the work of one job and marks the job as done, both in one transaction. The claim is checked first and stays
   * locked until the commit, so the work takes effect exactly once, even if a process crashes in between.
   *
   * @param work receives the transaction's client and returns the job's result
   * @param signal when aborted, ends the transaction immediately, whatever `work` is doing, and rolls it back unless
   *   it is already committing. The call then rejects with the signal's reason once all locks are released
   * @throws {ClaimLostError} if the claim is not valid; `work` did not run, or was rolled back
   * @throws {TypeError} if the storage has no transactions
   */
  completeInTransaction(claim: Claim, work: TransactionWork, signal?: AbortSignal): Promise<void>;
}
