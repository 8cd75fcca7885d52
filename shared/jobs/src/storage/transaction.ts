import type { JsonText } from '../job/job.js';

/** The rows that a statement returned. */
export interface TransactionRows<Row extends object> {
  readonly rows: readonly Row[];
}

/**
 * The part of a `pg` client that the storage needs in a caller's transaction. The caller begins and ends the
 * transaction; the storage only runs statements in it. Statements use numbered placeholders such as `$1`. Any driver
 * that can run such statements in its transaction can be adapted.
 */
export interface TransactionClient {
  query<Row extends object = Readonly<Record<string, unknown>>>(
    text: string,
    values?: unknown[],
  ): Promise<TransactionRows<Row>>;
  /**
   * Calls `act` once the transaction has committed, and never if it rolls back. The storage uses this to notify servers
   * of new jobs. Clients that do not know when they commit, such as a plain `pg` client, omit this method; the
   * notification is then part of the transaction, and Postgres sends it on commit.
   */
  afterCommit?(act: () => void): void;
}

/** The work of a job that runs in a transaction, which the storage begins and ends. Returns the job's result. */
export type TransactionWork = (client: TransactionClient) => Promise<JsonText>;
