import { setTimeout as pause } from 'node:timers/promises';
import type { BulkOperation, BulkOperations, BulkRequest } from '@longshore/jobs/storage';
import type { Transaction } from '@longshore/resources';

/** Interval of polls while a server works on the operation, in milliseconds. */
const pollMs = 20;

/**
 * Acts on all jobs of a filter, and waits for the end. Servers help, but none is needed; if this process dies they go on.
 *
 * @throws {Error} if the operation failed; what it had done stays done
 */
export async function carryOut(bulk: BulkOperations, order: BulkRequest): Promise<BulkOperation> {
  return endOf(bulk, await bulk.start(order));
}

/** Starts it in a transaction, and carries it out once that has committed; if this process dies, servers go on. */
export async function carryOutLater(
  bulk: BulkOperations,
  order: BulkRequest,
  transaction: Transaction,
): Promise<void> {
  const operation = await bulk.start(order, { transaction });
  transaction.afterCommit(() => void endOf(bulk, operation).catch(() => undefined)); // its own record says what failed
}

async function endOf(bulk: BulkOperations, { id, action }: BulkOperation): Promise<BulkOperation> {
  for (;;) {
    const operation = await bulk.find(id);
    if (operation === null) throw new Error(`The bulk operation ${id} was started and cannot be found`);
    if (operation.state === 'failed') throw new Error(`${action} failed: ${operation.error}`);
    if (operation.state !== 'running') return operation;
    if (!(await bulk.advance())) await pause(pollMs);
  }
}
