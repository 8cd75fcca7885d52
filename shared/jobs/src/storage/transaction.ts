import type { JsonText } from '../job/job.js';

/** The part of a `pg` client that a transaction needs: what the caller has begun, the storage only writes into. */
export interface TransactionClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  /**
   * Calls `act` once the transaction has committed; never if it is rolled back. Servers are told of new jobs then. Left out by
   * clients that cannot say, a plain `pg` client for example: the jobs start when servers next look.
   */
  afterCommit?(act: () => void): void;
}

/** Work in a transaction of the storage's; gives what the storage keeps of it. */
export type WorkWithin = (client: TransactionClient) => Promise<JsonText>;
