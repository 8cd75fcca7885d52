import { connected } from './database.js';

/** Counters and current sizes of a database. */
export interface StoreFigures {
  /** Bytes of write-ahead log that the whole server has written, in all databases. */
  readonly walBytes: number;
  readonly commits: number;
  readonly deadTuples: number;
  /** Size on disk, in bytes. */
  readonly bytes: number;
  /** Number of client connections, not counting the one that reads these figures. */
  readonly connections: number;
}

/**
 * Maximum delay until Postgres's statistics include all commits and dead rows, in milliseconds. A connection reports
 * them at most once a second, and reports the rest after it has been idle for ten seconds.
 */
export const statisticsDelayMs = 10_500;

/** Reads a database's counters. The numbers of commits and dead rows can lag by {@link statisticsDelayMs}. */
export function readFigures(url: string): Promise<StoreFigures> {
  return connected(url, async (client) => {
    const { rows } = await client.query<StoreFigures>(`
      select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "walBytes",
        (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits,
        (select coalesce(sum(n_dead_tup), 0)::float8 from pg_stat_user_tables) as "deadTuples",
        pg_database_size(current_database())::float8 as bytes,
        (select count(*)::float8 from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend') as connections`);
    const [row] = rows;
    if (row === undefined) throw new Error('Postgres returned no figures');
    return row;
  });
}
