import type { Database, Transaction } from '../database/database.js';

/**
 * Enqueues a job within a transaction. The job exists only if the transaction commits.
 * @returns the job's id
 */
export type Enqueue = (transaction: Transaction, job: string, args: unknown) => Promise<string>;

/** The part of a job definition that the toolkit uses. */
export interface NamedJob<Input = never> {
  readonly name: string;
  check(args: Input): unknown;
}

/** Enqueues a job by definition or by name, in the transaction of an operation. Returns the job's id. */
export interface EnqueueHere {
  <Input>(
    job: NamedJob<Input>,
    ...args: {} extends Input ? [args?: NoInfer<Input>] : [args: NoInfer<Input>]
  ): Promise<string>;
  (job: string, args?: unknown): Promise<string>;
}

/** The services that the process provides for storages. */
export interface Platform {
  readonly database: Database;
  /** The database for GET on collections and items, such as a replica; default: `database`. */
  readonly reads?: Database;
  readonly enqueue: Enqueue;
  /** Time limit for each statement that searches a table, in milliseconds; 1,000 by default. */
  readonly searchTimeoutMs?: number;
}
