import type { TransactionClient } from '@longshore/jobs';
import { adapterOf, hasMethods, requireOpen } from './check-transaction.js';

/** The part of a TypeORM entity manager that enqueueing uses. */
export interface TypeormManager {
  readonly queryRunner?: {
    readonly isTransactionActive: boolean;
    query(
      text: string,
      values: unknown[],
      structured: true,
    ): Promise<{ readonly records: readonly unknown[] }>;
  };
}

/**
 * Adapts a TypeORM transaction, so that jobs can be enqueued in it: `{ transaction: typeormTransaction(manager) }`.
 *
 * @throws {TypeError} if the manager does not belong to an active transaction
 */
export function typeormTransaction(manager: TypeormManager): TransactionClient {
  const runner = hasMethods(manager) ? manager.queryRunner : undefined;
  const isOpen = hasMethods(runner, 'query') && runner?.isTransactionActive === true;
  requireOpen(manager, isOpen, 'TypeORM', 'dataSource.transaction(async (manager) => …)');
  return adapterOf(runner ?? manager, () => ({
    query: async (text, values = []) => {
      const result = await runner?.query(text, values, true);
      return { rows: (result?.records ?? []) as never[] };
    },
  }));
}
