import type { DatabaseOptions } from './database.js';

/** How to reach a Postgres database. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. The database must exist; everything in it is made by `open`. */
  url: string;
  /** Most connections at once, besides one for wake-ups and one for each server's heartbeat; 10 by default. */
  poolSize?: number;
  /** READ COMMITTED set on every transaction, `true` by default; `false` leaves the database's default. */
  useRecommendedIsolationLevel?: boolean;
  /**
   * State changes go to the database in one batch per round trip; this is the longest, in milliseconds, that a batch may
   * take before it is cancelled and tried again. 300 000 by default.
   */
  commandBatchMaxTimeoutMs?: number;
  /** Shown in `pg_stat_activity`; `longshore` by default. */
  applicationName?: string;
}

/** The options with every default filled in. */
export function databaseOptions(options: PostgresOptions): DatabaseOptions {
  return {
    url: options.url,
    poolSize: options.poolSize ?? 10,
    useRecommendedIsolationLevel: options.useRecommendedIsolationLevel ?? true,
    statementTimeoutMs: options.commandBatchMaxTimeoutMs ?? 300_000,
    applicationName: options.applicationName ?? 'longshore',
  };
}
