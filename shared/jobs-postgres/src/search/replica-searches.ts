import { type Logger, ReadTimeoutError, StorageUnavailableError } from '@longshore/jobs';
import type { ReadReplicaStatus } from '@longshore/jobs/storage';
import type pg from 'pg';
import type { Database } from '../connection/database.js';
import { type Statement, unnamed } from '../connection/statement.js';

/** What runs searches: connections, or a choice between two. */
export type Searches = Pick<Database, 'query'>;

/** How long the result of a check is used, in milliseconds. */
const checkedForMs = 2_000;

/**
 * Runs searches on a read replica, and on the primary while the replica cannot be reached or is too far behind. The lag
 * is measured at most every two seconds, and only while there are searches or someone asks for it.
 */
export class ReplicaSearches implements Searches {
  readonly #replica: Database;
  readonly #primary: Database;
  readonly #maxLagMs: number;
  readonly #logger: Logger;
  #checked: Promise<ReadReplicaStatus> | undefined;
  #checkedAt = -Infinity;
  #last: ReadReplicaStatus | undefined;
  #isFallingBack = false;

  /** @param maxLagMs the lag up to which searches use the replica, in milliseconds */
  constructor(replica: Database, primary: Database, maxLagMs: number, logger: Logger) {
    this.#replica = replica;
    this.#primary = primary;
    this.#maxLagMs = maxLagMs;
    this.#logger = logger;
  }

  /** Returns the state of the replica as it was last seen, and looks again if that is more than two seconds ago. */
  async status(): Promise<ReadReplicaStatus> {
    const checked = this.#refresh();
    return this.#last ?? checked;
  }

  #refresh(): Promise<ReadReplicaStatus> {
    const now = performance.now();
    if (this.#checked === undefined || now - this.#checkedAt >= checkedForMs) {
      this.#checkedAt = now;
      this.#checked = this.#check();
      this.#checked.catch(() => undefined); // those who need the result get the error
    }
    return this.#checked;
  }

  async query<Row extends pg.QueryResultRow>(
    statement: Statement,
    values?: unknown[],
    signal?: AbortSignal,
  ): Promise<Row[]> {
    const checked = this.#refresh();
    // While the replica is not used, no search waits for it.
    const { fallback } = this.#isFallingBack && this.#last !== undefined ? this.#last : await checked;
    if (fallback !== null) return this.#primary.query<Row>(statement, values, signal);
    try {
      return await this.#replica.query<Row>(statement, values, signal);
    } catch (error) {
      // A search that took too long would take as long on the primary.
      if (!(error instanceof StorageUnavailableError) || error instanceof ReadTimeoutError) throw error;
      this.#checkedAt = performance.now();
      this.#checked = Promise.resolve(this.#note(null, `the replica cannot be used: ${error.summary}`));
      return this.#primary.query<Row>(statement, values, signal);
    }
  }

  async #check(): Promise<ReadReplicaStatus> {
    try {
      const lagMs = await this.#lag();
      const isLate = lagMs !== null && lagMs > this.#maxLagMs;
      return this.#note(lagMs, isLate ? `the replica is ${seconds(lagMs)} s behind` : null);
    } catch (error) {
      // Some managed services do not support the functions that report positions: the lag is then unknown.
      if (!(error instanceof StorageUnavailableError)) return this.#note(null, null);
      return this.#note(null, `the replica cannot be used: ${error.summary}`);
    }
  }

  /**
   * Measures the lag in milliseconds; `null` if the replica does not report it. A replica that has replayed what the
   * primary had written is not behind, however long ago that was.
   */
  async #lag(): Promise<number | null> {
    const [primary] = await this.#primary.query<{ lsn: string | null }>(selectWritten);
    const [replica] = await this.#replica.query<{ lagMs: number | null }>(selectLag, [primary?.lsn ?? null]);
    return replica?.lagMs ?? null;
  }

  /** Logs once when searches begin to use the primary, and when they use the replica again. */
  #note(lagMs: number | null, fallback: string | null): ReadReplicaStatus {
    const isFallingBack = fallback !== null;
    if (isFallingBack !== this.#isFallingBack) {
      this.#isFallingBack = isFallingBack;
      const fields = { lagMs, maxLagMs: this.#maxLagMs };
      if (isFallingBack) this.#logger.warn(fields, `searches use the primary, because ${fallback}`);
      else this.#logger.info(fields, 'searches use the replica again');
    }
    return (this.#last = { lagMs, maxLagMs: this.#maxLagMs, fallback });
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(ms < 10_000 ? 1 : 0);
}

/** Selects how far the primary has written; null on a server that is itself a standby. */
const selectWritten = unnamed(
  'select case when not pg_is_in_recovery() then pg_current_wal_lsn()::text end as lsn',
);

/** $1 how far the primary has written, or null. Selects the lag of a standby; 0 for a server that is none. */
const selectLag = unnamed(
  `select case
     when not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= $1::pg_lsn then 0
     else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000
   end::float8 as "lagMs"`,
);
