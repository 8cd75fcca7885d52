import type { JsonText } from '../job/job.js';

/**
 * The part of a `pg` client that a transaction needs. The caller begins and ends the transaction; the storage only
 * writes in it.
 */
export interface TransactionClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  /**
   * Calls `act` once the transaction has committed; never if it rolls back. The storage uses it to notify servers of
   * new jobs. Absent on clients that do not know when they commit, such as a plain `pg` client; the transaction then
   * contains the notification, which Postgres sends when it commits.
   */
  afterCommit?(act: () => void): void;
}

/** Work to run in a transaction that the storage begins and ends; returns the job's result. */
export type TransactionWork = (client: TransactionClient) => Promise<JsonText>;
