import type { JsonText } from '../job/job.js';

/** The rows that a statement returned. */
export interface TransactionRows<Row extends object> {
  readonly rows: readonly Row[];
}

/**
 * The part of a `pg` client that a transaction needs. The caller begins and ends the transaction; the storage only writes in
 * it. Statements use numbered placeholders such as `$1`. Any driver that can run such statements in its transaction can be
 * adapted.
 */
export interface TransactionClient {
  query<Row extends object = Readonly<Record<string, unknown>>>(
    text: string,
    values?: unknown[],
  ): Promise<TransactionRows<Row>>;
  /**
   * Calls `act` once the transaction has committed; never if it rolls back. The storage uses this to notify servers of new
   * jobs. Absent on clients that do not know when they commit, such as a plain `pg` client; the transaction then includes the
   * notification, which Postgres sends on commit.
   */
  afterCommit?(act: () => void): void;
}

/** Work to run in a transaction that the storage begins and ends; returns the job's result. */
export type TransactionWork = (client: TransactionClient) => Promise<JsonText>;
