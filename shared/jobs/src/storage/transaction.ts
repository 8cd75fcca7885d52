/** The part of a `pg` client that a transaction needs: what the caller has begun, the storage only writes into. */
export interface TransactionClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}
