/** Something that runs one SQL statement: a pool or a client of `pg`, by shape. */
export interface Queryable {
  query<Row extends object = Readonly<Record<string, unknown>>>(
    text: string,
    values?: unknown[],
  ): Promise<QueryResult<Row>>;
}

export interface QueryResult<Row extends object> {
  readonly rows: readonly Row[];
  /** Rows that the statement read or changed. */
  readonly rowCount: number | null;
  /** The kind of statement that was carried out: `COMMIT`. */
  readonly command?: string;
}

/** A connection taken from a pool. */
export interface PooledConnection extends Queryable {
  /** Gives the connection back; `true` or an error closes it instead. */
  release(broken?: Error | boolean): void;
}

/** A pool of connections: `pg.Pool`, by shape. */
export interface Database extends Queryable {
  connect(): Promise<PooledConnection>;
}

/** A transaction under way. */
export interface Transaction extends Queryable {
  /** Calls `act` once the transaction has committed; never if it is rolled back. What `act` throws is ignored. */
  afterCommit(act: () => void): void;
}

/**
 * Enqueues a job within a transaction: it exists if and only if the transaction commits.
 * @returns the job's id
 */
export type Enqueue = (transaction: Transaction, job: string, args: unknown) => Promise<string>;
