import type { JsonText } from '../job/job.js';

export interface TransactionRows<Row extends object> {
  readonly rows: readonly Row[];
}

/**
 * A caller's open transaction: the part of a `pg` client's interface that the storage needs. The caller begins and ends
 * the transaction; the storage only runs statements in it. Statements use numbered placeholders such as `$1`. Other
 * drivers can be adapted to this interface.
 */
export interface TransactionClient {
  query<Row extends object = Readonly<Record<string, unknown>>>(
    text: string,
    values?: unknown[],
  ): Promise<TransactionRows<Row>>;
  /**
   * Calls `act` once the transaction has committed, but not if it rolls back. The storage uses this to notify servers
   * of new jobs. Clients that cannot detect the commit, such as a plain `pg` client, omit this method. Postgres then
   * sends the notification on commit.
   */
  afterCommit?(act: () => void): void;
}

/** The work of a job, done in a transaction that the storage begins and ends. Returns the job's result as JSON. */
export type TransactionWork = (client: TransactionClient) => Promise<JsonText>;
