import type { TransactionClient } from '@longshore/jobs';
import { adapterOf, hasMethods, requireOpen } from './check-transaction.js';

/** The part of a Prisma transaction that enqueueing uses. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
}

/**
 * Adapts an interactive Prisma transaction, so that jobs can be enqueued in it:
 * `{ transaction: prismaTransaction(tx) }`.
 *
 * @throws {TypeError} if `tx` is a client instead of a transaction
 */
export function prismaTransaction(tx: PrismaTransaction): TransactionClient {
  const isOpen = hasMethods(tx, '$queryRawUnsafe') && (tx as { $connect?: unknown }).$connect === undefined;
  requireOpen(tx, isOpen, 'Prisma', 'prisma.$transaction(async (tx) => …)');
  return adapterOf(tx, () => ({
    query: async (text, values = []) => ({ rows: (await tx.$queryRawUnsafe(text, ...values)) as never[] }),
  }));
}
