import type { Database, Transaction } from '../database/database.js';

/**
 * Enqueues a job within a transaction: the job exists if and only if the transaction commits.
 * @returns the job's id
 */
export type Enqueue = (transaction: Transaction, job: string, args: unknown) => Promise<string>;

/** What the process that serves an API offers its storages. */
export interface Platform {
  readonly database: Database;
  /** Serves GET on collections and items, a replica for example; default: `database`. */
  readonly reads?: Database;
  readonly enqueue: Enqueue;
}
