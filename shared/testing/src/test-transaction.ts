import type { TransactionClient, TransactionRows } from '@longshore/jobs';
import { isFunction, maybe } from '@longshore/jobs/storage';

/** Runs a statement, for example on a real client, and returns the rows. */
export type Query = (text: string, values: unknown[]) => Promise<{ readonly rows: readonly unknown[] }>;

/**
 * A transaction without a database. Jobs that a `MemoryStorage` enqueues in it exist once it commits. Records each
 * statement and runs it with `query`. Without `query`, statements return no rows.
 */
export class TestTransaction implements TransactionClient {
  /** All statements in order, including those that failed. */
  readonly statements: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  readonly #query: Query | undefined;
  #acts: (() => void)[] = [];
  #ended = false;

  /** @throws {TypeError} if `query` is not a function */
  constructor(query?: Query) {
    maybe(isFunction)('TestTransaction: query', query);
    this.#query = query;
  }

  async query<Row extends object = Readonly<Record<string, unknown>>>(
    text: string,
    values: unknown[] = [],
  ): Promise<TransactionRows<Row>> {
    if (this.#ended) throw new Error('The transaction has ended');
    this.statements.push({ text, values });
    const { rows } = (await this.#query?.(text, values)) ?? { rows: [] };
    return { rows: rows as readonly Row[] };
  }

  afterCommit(act: () => void): void {
    this.#acts.push(act);
  }

  commit(): void {
    this.#ended = true;
    for (const act of this.#acts.splice(0)) act();
  }

  rollback(): void {
    this.#ended = true;
    this.#acts = [];
  }
}

/**
 * Runs `work` in a {@link TestTransaction} and commits it. If `work` throws, rolls back and rethrows.
 *
 * @throws {TypeError} if `work` or `query` is not a function
 */
export async function inTestTransaction<Result>(
  work: (transaction: TestTransaction) => Promise<Result>,
  query?: Query,
): Promise<Result> {
  isFunction('inTestTransaction: work', work);
  const transaction = new TestTransaction(query);
  try {
    const result = await work(transaction);
    transaction.commit();
    return result;
  } catch (error) {
    transaction.rollback();
    throw error;
  }
}
