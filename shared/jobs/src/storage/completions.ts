import type { Claim, Completion } from '../job/job.js';
import type { WorkWithin } from './transaction.js';

/** Records how attempts ended. Every write is fenced by its claim. */
export interface Completions {
  /**
   * Records outcomes. Returns the claims that no longer held: their outcome changed nothing. A delay out of bounds becomes
   * the nearest one within; a job whose outcome cannot be stored has failed, with the reason. No outcome affects another.
   */
  complete(completions: readonly Completion[]): Promise<Claim[]>;
  /**
   * Does the work of one job and records its outcome `done` in one transaction: both happen or neither. The claim is
   * checked first and held until the commit, so the work is done exactly once, whatever dies in between.
   *
   * @param work gets the transaction's client and returns the result
   * @param signal when aborted, the transaction ends at once, whatever `work` is doing, and is rolled back unless its commit
   * is under way: by the time this rejects, with the signal's reason, none of its locks are left
   * @throws {ClaimLostError} if the claim does not hold; `work` has not run, or what it did has been rolled back
   * @throws {TypeError} if the storage has no transactions
   */
  completeWithin(claim: Claim, work: WorkWithin, signal?: AbortSignal): Promise<void>;
}
