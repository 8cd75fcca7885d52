import type { RetentionDays } from '@longshore/jobs';
import type { DatabaseOptions, Pooler } from './database.js';

/** How to reach a Postgres database. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. The database must exist; everything in it is made by `open`. */
  url: string;
  /**
   * Most connections for writes, and for what servers do; 1 to 500, 10 by default. Besides those there are `readPoolSize` for reads, two
   * for searches, two for the feed of events, two for looking up queues, one for wake-ups and one for each server's heartbeat.
   */
  poolSize?: number;
  /** Most connections for reads, so that they never take those of writes; opened as they are needed; 1 to 500, 4 by default. */
  readPoolSize?: number;
  /**
   * The longest, in milliseconds, that a read may take; then it fails with a `ReadTimeoutError`. Waiting for a connection is bounded
   * by 5 s. 1 to 3 600 000, 5000 by default.
   */
  readTimeoutMs?: number;
  /** READ COMMITTED set on every transaction, `true` by default; `false` leaves the database's default. */
  useRecommendedIsolationLevel?: boolean;
  /**
   * `true`, the default: writers of one queue keep out of each other's way by the locks of rows alone. `false` lets them write
   * one after the other, over all processes that are given the same: clients that enqueue, servers that claim, complete, renew,
   * give back and promote. Slower; for a database that shows trouble with concurrent writers. Transactions of callers and of handlers
   * are left alone, for they would hold a queue for as long as they like.
   */
  disableGlobalLocks?: boolean;
  /**
   * State changes go to the database in one batch per round trip; this is the longest, in milliseconds, that a batch may
   * take before it is cancelled and tried again; 1000 to 3 600 000, 300 000 by default.
   */
  commandBatchMaxTimeoutMs?: number;
  /**
   * The longest, in milliseconds, that a handler's `transaction` may wait for its next statement, while the handler computes or
   * calls somebody else; 1000 to 86 400 000, 300 000 by default. Then Postgres ends it, for it holds its rows locked and keeps
   * the whole database from cleaning up: the attempt fails with a `StorageUnavailableError` that names this option.
   */
  transactionIdleTimeoutMs?: number;
  /**
   * The longest, in milliseconds, that a search may take (`listJobs` and `countJobs` by what has no index: names, arguments,
   * servers); then it fails with a `StorageUnavailableError`; 1 to 3 600 000, 10 000 by default. Searches have 2 connections of their own.
   */
  searchTimeoutMs?: number;
  /**
   * `transaction` if `url` leads to a pooler that gives each transaction another connection, such as pgbouncer in
   * transaction mode; `none` by default. Nothing is prepared then, each statement brings its settings along, and servers find
   * jobs by polling (each 200 ms unless `queuePollIntervalMs` says otherwise), for a pooler passes no notification on.
   */
  pooler?: Pooler;
  /** Past the pooler, for migrations, which hold a lock for longer than a transaction; `url` by default. */
  directUrl?: string;
  /**
   * The most queues there may be; a job for one more is refused with a `TooManyQueuesError`. 1 to 1 000 000, 10 000 by default. Jobs from
   * SQL are held to the number that was last given explicitly, by whichever process.
   */
  maxQueues?: number;
  /** Shown in `pg_stat_activity`; `longshore` by default. */
  applicationName?: string;
  /**
   * How many days finished jobs are kept, by the state they ended in; 1 to 3650. By default 7 for `done` and `cancelled`, 30
   * for `failed`. Kept by whole days (UTC). All servers of a database should be given the same.
   */
  retentionDays?: Partial<RetentionDays>;
}

/**
 * The options with every default filled in.
 *
 * @throws {RangeError} that names the option and its bounds
 */
export function databaseOptions(options: PostgresOptions): DatabaseOptions {
  return {
    url: options.url,
    poolSize: bounded('poolSize', options.poolSize ?? 10, 1, 500),
    useRecommendedIsolationLevel: options.useRecommendedIsolationLevel ?? true,
    disableGlobalLocks: options.disableGlobalLocks ?? true,
    statementTimeoutMs: bounded(
      'commandBatchMaxTimeoutMs',
      options.commandBatchMaxTimeoutMs ?? 300_000,
      1_000,
      3_600_000,
    ),
    transactionIdleTimeoutMs: bounded(
      'transactionIdleTimeoutMs',
      options.transactionIdleTimeoutMs ?? 300_000,
      1_000,
      86_400_000,
    ),
    applicationName: options.applicationName ?? 'longshore',
    pooler: options.pooler ?? 'none',
    directUrl: options.directUrl ?? options.url,
  };
}

/** What reads run with, apart from the writes. Throws as {@link databaseOptions} does. */
export function readOptions(options: PostgresOptions): DatabaseOptions {
  const poolSize = bounded('readPoolSize', options.readPoolSize ?? 4, 1, 500);
  const statementTimeoutMs = bounded('readTimeoutMs', options.readTimeoutMs ?? 5_000, 1, 3_600_000);
  return { ...databaseOptions(options), poolSize, statementTimeoutMs, reads: true };
}

/** What people's searches run with, apart from the jobs. Throws as {@link databaseOptions} does. */
export function searchOptions(options: PostgresOptions): DatabaseOptions {
  const statementTimeoutMs = bounded('searchTimeoutMs', options.searchTimeoutMs ?? 10_000, 1, 3_600_000);
  return { ...databaseOptions(options), poolSize: 2, statementTimeoutMs, reads: true };
}

/** @throws {RangeError} as {@link databaseOptions} does */
export function mostQueues({ maxQueues = 10_000 }: PostgresOptions): number {
  return bounded('maxQueues', maxQueues, 1, 1_000_000);
}

function bounded(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`${name} is an integer from ${least} to ${most}, not ${value}`);
}
