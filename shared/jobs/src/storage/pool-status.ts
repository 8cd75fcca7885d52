/** A pool of database connections, as it is at the moment. */
export interface PoolStatus {
  /** What its connections are for, such as `writes`. */
  readonly name: string;
  /** Maximum number of open connections. */
  readonly size: number;
  /** Number of open connections that are in use, including those that are being opened. */
  readonly inUse: number;
  /** Number of open connections that nothing uses. */
  readonly idle: number;
  /** Number of calls that wait for a connection. */
  readonly waiting: number;
  /** Number of connections that were opened since the pool was created. */
  readonly connects: number;
  /** Number of connections that could not be opened. */
  readonly connectErrors: number;
  /** How long opening connections took in total, failures included, in milliseconds. */
  readonly connectMs: number;
}
