import type { TransactionClient } from '@longshore/jobs';

/** Acts now or, if what it is about was written in a transaction of the caller's, once that has committed. */
export function onceCommitted(transaction: TransactionClient | undefined, act: () => void): void {
  if (transaction === undefined) act();
  else transaction.afterCommit?.(act);
}
