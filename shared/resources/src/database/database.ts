/** Runs SQL statements. A pool and a client of `pg` both satisfy this interface. */
export interface Queryable {
  query<Row extends object = Readonly<Record<string, unknown>>>(
    text: string,
    values?: unknown[],
  ): Promise<QueryResult<Row>>;
}

export interface QueryResult<Row extends object> {
  readonly rows: readonly Row[];
  /** The number of rows read or changed; `null` if the driver reports none for the command. */
  readonly rowCount: number | null;
  /** The command that was executed, such as `COMMIT`. */
  readonly command?: string;
}

export interface PooledConnection extends Queryable {
  /** Returns the connection to its pool. If `broken` is `true` or an error, closes the connection instead. */
  release(broken?: Error | boolean): void;
}

/** A pool of connections, such as `pg.Pool`. */
export interface Database extends Queryable {
  connect(): Promise<PooledConnection>;
}

export interface Transaction extends Queryable {
  /** Calls `act` once the transaction has been committed; never after a rollback. Ignores errors that `act` throws. */
  afterCommit(act: () => void): void;
}
