import type { Database, Transaction } from '../database/database.js';

/**
 * Enqueues a job within a transaction: the job exists if and only if the transaction commits.
 * @returns the job's id
 */
export type Enqueue = (transaction: Transaction, job: string, args: unknown) => Promise<string>;

/** What the process that serves an API offers its storages. */
export interface Platform {
  readonly database: Database;
  /** The database for GET on collections and items, for example a replica; default: `database`. */
  readonly reads?: Database;
  readonly enqueue: Enqueue;
}
