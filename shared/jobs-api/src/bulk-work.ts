import { setTimeout as pause } from 'node:timers/promises';
import type { BulkOperation, BulkOperations } from '@longshore/jobs/storage';
import type { Transaction } from '@longshore/resources';

/** Interval between polls while a server works on the operation, in milliseconds. */
const pollMs = 20;

/**
 * Resolves to a bulk operation when it has ended. Carries it out together with the running servers, which complete it
 * if this process dies.
 *
 * @throws {Error} if the operation fails; changes made before the failure remain
 */
export async function endOf(bulk: BulkOperations, { id, action }: BulkOperation): Promise<BulkOperation> {
  for (;;) {
    const operation = await bulk.find(id);
    if (operation === null) throw new Error(`The bulk operation ${id} was started but cannot be found`);
    if (operation.state === 'failed')
      throw new Error(`The bulk operation ${action} failed: ${operation.error}`);
    if (operation.state !== 'running') return operation;
    if (!(await bulk.advance())) await pause(pollMs);
  }
}

/**
 * Carries out a bulk operation that was stored in a transaction, after the commit and in the background. If this process
 * dies, servers continue it.
 */
export function startAfterCommit(
  bulk: BulkOperations,
  operation: BulkOperation,
  transaction: Transaction,
): void {
  // Ignores a failure here, because the operation stores it.
  transaction.afterCommit(() => void endOf(bulk, operation).catch(() => undefined));
}
