import { setTimeout as pause } from 'node:timers/promises';
import type { BulkOperation, BulkOperations, BulkOrder } from '@longshore/jobs';

/** Between looks at work that a server has taken over. */
const lookMs = 20;

/**
 * Acts on all jobs of a filter, and waits for the end. Servers help, but none is needed; if this process dies they go on.
 *
 * @throws {Error} if the operation failed; what it had done stays done
 */
export async function carryOut(bulk: BulkOperations, order: BulkOrder): Promise<BulkOperation> {
  const { id } = await bulk.start(order);
  for (;;) {
    const operation = await bulk.find(id);
    if (operation === null) throw new Error(`The bulk operation ${id} was started and cannot be found`);
    if (operation.state === 'failed') throw new Error(`${order.action} failed: ${operation.error}`);
    if (operation.state !== 'running') return operation;
    if (!(await bulk.advance())) await pause(lookMs);
  }
}
