import type { TransactionClient } from '@longshore/jobs';

/** The work that is under way in each transaction of a caller. */
const turns = new WeakMap<TransactionClient, Promise<unknown>>();

/**
 * Runs `work` once all earlier work in the same transaction has ended. Calls that an application makes at the same time
 * would otherwise interleave on the connection: a rollback to a savepoint would undo what another call has written, and the
 * settings that one restores would be those of another. `work` must not take another turn of this transaction.
 */
export function inTurn<Result>(transaction: TransactionClient, work: () => Promise<Result>): Promise<Result> {
  const result = allTurns(transaction).then(work);
  turns.set(
    transaction,
    result.catch(() => undefined),
  );
  return result;
}

/** Resolves once all work that has been begun in the transaction has ended. */
export async function allTurns(transaction: TransactionClient): Promise<void> {
  await turns.get(transaction);
}
