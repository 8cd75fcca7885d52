import { setTimeout as pause } from 'node:timers/promises';
import type { ActionOptions, BulkOperation, BulkOperations, BulkRequest } from '@longshore/jobs/storage';
import type { Transaction } from '@longshore/resources';

/** Interval between polls while a server works on the operation, in milliseconds. */
const pollMs = 20;

/**
 * Runs a bulk operation and resolves when it is complete. Running servers share the work, and complete it if this
 * process dies.
 *
 * @throws {Error} if the operation fails; changes made before the failure remain
 */
export async function runBulkOperation(
  bulk: BulkOperations,
  request: BulkRequest,
  audit?: ActionOptions<BulkOperation>['audit'],
): Promise<BulkOperation> {
  return endOf(bulk, await bulk.start(request, { audit }));
}

/**
 * Stores a bulk operation in a transaction, and runs it in the background after the commit. If this process dies,
 * servers continue the operation.
 */
export async function runBulkOperationAfterCommit(
  bulk: BulkOperations,
  request: BulkRequest,
  { transaction, audit }: { transaction: Transaction; audit: ActionOptions<BulkOperation>['audit'] },
): Promise<void> {
  const operation = await bulk.start(request, { transaction, audit });
  // Ignores a failure here, because the operation stores it.
  transaction.afterCommit(() => void endOf(bulk, operation).catch(() => undefined));
}

async function endOf(bulk: BulkOperations, { id, action }: BulkOperation): Promise<BulkOperation> {
  for (;;) {
    const operation = await bulk.find(id);
    if (operation === null) throw new Error(`The bulk operation ${id} was started but cannot be found`);
    if (operation.state === 'failed')
      throw new Error(`The bulk operation ${action} failed: ${operation.error}`);
    if (operation.state !== 'running') return operation;
    if (!(await bulk.advance())) await pause(pollMs);
  }
}
