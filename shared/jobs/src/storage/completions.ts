import type { Claim, Completion, Outcome } from '../job/job.js';
import type { TransactionWork } from './transaction.js';

/** Stores the outcomes of attempts. Every write is fenced: it has no effect if the claim is no longer valid. */
export interface Completions {
  /**
   * Stores the outcomes of several attempts. Returns the claims that were no longer valid; their outcomes are ignored.
   * Delays are clamped to the allowed range. If the data of an outcome cannot be stored, that job fails with an error
   * that gives the reason, or is set aside (see {@link SetAside}). The other outcomes are not affected.
   */
  complete(completions: readonly Completion[]): Promise<Claim[]>;
  /**
   * Runs a job's work and marks the job as done in the same transaction. The claim is checked first and stays locked
   * until the commit. A crash therefore cannot make the work take effect twice.
   *
   * @param work receives the transaction's client and returns the job's result
   * @param signal when aborted, rolls back the transaction, even while `work` is running. The call then rejects with
   *   the signal's reason. An abort during the commit has no effect
   * @throws {ClaimLostError} if the claim is not valid; `work` was either not started or rolled back
   * @throws {TypeError} if the storage does not support transactions
   */
  completeInTransaction(claim: Claim, work: TransactionWork, signal?: AbortSignal): Promise<void>;
}

/**
 * Returns the outcome of an attempt whose job an operator has asked to cancel. The request wins over every outcome but
 * `done`: the job neither fails nor goes back to its queue.
 */
export function outcomeIfCancelled(outcome: Outcome): Outcome {
  if (outcome.kind === 'done' || outcome.kind === 'cancelled') return outcome;
  return { kind: 'cancelled', error: 'error' in outcome ? outcome.error : snoozedError };
}

const snoozedError = {
  name: 'JobCancelled',
  message: 'The job was cancelled when it asked to be snoozed',
  stack: null,
};
