import type { Database } from '../connection/database.js';
import { sqlStateOf } from '../connection/errors.js';
import { Lull } from './lull.js';
import { prepared, unprepared } from '../connection/statement.js';

const hourMs = 3_600_000;

/** Interval at which a deferred build checks whether it can start, in milliseconds. */
const waitMs = 1_000;

/**
 * SQLSTATEs of temporary errors: undefined table, duplicate table, deadlock, lock timeout and query cancelled. They are
 * not reported, because a later run tries again.
 */
const passing = /^(42P01|42P07|40P01|55P03|57014)$/;

/**
 * Creates the search indexes of days that have ended (docs/adr/008), and missing indexes of failed jobs. No rows are
 * added to ended days, so completing a job does not update their search indexes. Building an index keeps a processor
 * busy, so builds are deferred while servers are behind with their jobs (see {@link Lull}).
 */
export class HistoryIndexes {
  readonly #database: Database;
  readonly #builders: Database;
  readonly #lull: Lull;
  #building: Promise<void> | undefined;
  #backend: number | undefined;
  #nextAtMs = -Infinity;
  #isWanted = false;
  #closed = false;

  /** @param builders connection for builds; separate, because a build can take minutes */
  constructor(database: Database, builders: Database, lull = new Lull(database)) {
    this.#lull = lull;
    this.#database = database;
    this.#builders = builders;
  }

  /**
   * Starts to build one missing index in the background, unless a build is running or the next check is not due yet.
   * The next check is due at once after a successful build, after {@link waitMs} if the build has to be deferred, and
   * otherwise in an hour.
   */
  begin(): void {
    if (this.#closed || this.#building !== undefined || performance.now() < this.#nextAtMs) return;
    this.#nextAtMs = performance.now() + hourMs;
    this.#building = this.#buildInTime()
      .catch(() => this.#endWork()) // retried in an hour
      .finally(() => {
        this.#building = undefined;
      });
  }

  /** Whether an index build is running or deferred. */
  get isPending(): boolean {
    return this.#isWanted;
  }

  /** Cancels the running build, if any, and closes the connection for builds. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#backend !== undefined) await this.#database.query(cancelBackend, [this.#backend]);
    await this.#building;
    await this.#builders.close();
  }

  /**
   * Builds one missing index and resolves to its name. Resolves to `null` if no index is missing or every build failed
   * with a temporary error.
   */
  async buildNext(): Promise<string | null> {
    for (const { name, steps } of await this.#missing()) if (await this.#run(steps)) return name;
    return null;
  }

  async #buildInTime(): Promise<void> {
    if (!this.#isWanted && (await this.#missing()).length === 0) return;
    this.#isWanted = true;
    if (!(await this.#lull.canStart())) {
      this.#nextAtMs = performance.now() + waitMs;
      return;
    }
    if ((await this.buildNext()) === null) this.#endWork();
    else this.#nextAtMs = performance.now();
  }

  #endWork(): void {
    this.#isWanted = false;
    this.#lull.end();
  }

  /** Returns one missing index per partition, with the statements that build it. */
  async #missing(): Promise<{ name: string; steps: string[] }[]> {
    const days = await this.#database.query<PartitionRow>(selectIndexedDays);
    return days.flatMap(({ valid, invalid, ...day }) => {
      const missing = historyIndexes(day).find((index) => !valid.includes(index.name));
      if (missing === undefined) return [];
      const { name } = missing;
      // An interrupted build leaves an invalid index. Drops that index before building it again.
      return [{ name, steps: [...(invalid.includes(name) ? [dropIndex(name)] : []), buildIndex(missing)] }];
    });
  }

  /**
   * Runs each statement outside a transaction, because Postgres cannot build indexes concurrently in a transaction.
   * Resolves to `false` after a temporary error.
   */
  async #run(steps: readonly string[]): Promise<boolean> {
    try {
      await this.#builders.session(async (client) => {
        const { rows } = await client.query<{ pid: number }>(selectBackend);
        this.#backend = rows[0]?.pid;
        for (const step of steps) if (!this.#closed) await client.query(step);
      });
      return true;
    } catch (error) {
      if (passing.test(sqlStateOf(error))) return false;
      throw error;
    } finally {
      this.#backend = undefined;
    }
  }
}

export interface PartitionRow {
  name: string;
  /** Whether the day is over, so no more rows are added. */
  ended: boolean;
  /** Names of the complete indexes. */
  valid: string[];
  /** Names of the partly built indexes. */
  invalid: string[];
}

interface HistoryIndex {
  readonly name: string;
  readonly table: string;
  readonly definition: string;
}

/**
 * Returns the indexes that a partition should have:
 *
 * - for failed jobs: on failure time, on queue and failure time, and on name, kind of error and failure time
 * - for a day that has ended: on queue and id, on name and id, on the arguments, and on what lists are filtered and
 *   sorted by
 */
export function historyIndexes({ name: table, ended }: Pick<PartitionRow, 'name' | 'ended'>): HistoryIndex[] {
  return [
    ...(table.startsWith('job_history_failed_') ? ofFailures(table) : []),
    ...(ended ? ofEnded(table) : []),
    ...(ended && !table.startsWith('job_history_failed_') ? [finishTimes(table)] : []),
  ];
}

function ofFailures(table: string): HistoryIndex[] {
  return [
    finishTimes(table),
    { name: `${table}_queue_at`, table, definition: '(queue_id, finished_at, id)' },
    { name: `${table}_kind`, table, definition: '(name, longshore.error_kind(error), finished_at)' },
  ];
}

function ofEnded(table: string): HistoryIndex[] {
  return [
    { name: `${table}_queue`, table, definition: '(queue_id, id)' },
    { name: `${table}_name`, table, definition: '(name, id)' },
    { name: `${table}_args`, table, definition: 'using gin (args jsonb_path_ops)' },
    { name: `${table}_due`, table, definition: '(run_at, id) where run_at is not null' },
    { name: `${table}_priority`, table, definition: '(priority, id) where priority <> 0' },
  ];
}

function finishTimes(table: string): HistoryIndex {
  return { name: `${table}_at`, table, definition: '(finished_at, id)' };
}

/** Minimum size of a partition to index, in bytes. Smaller partitions can be searched quickly without indexes. */
const minBytes = 4_194_304;

/** SQL condition: the day ended at least 15 minutes ago. Rows may still be added during these 15 minutes. */
const hasEnded = `to_date(right(part.relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC' - interval '15 minutes')::date`;

/**
 * Selects the partitions that may need indexes, newest first: large partitions of ended days or of failed jobs. Skips
 * partitions with a running index build.
 */
export const selectIndexedDays = prepared(
  'longshore-select-indexed-days',
  indexedDays('pg_relation_size'),
  indexedDays('citus_relation_size'),
);

/** @param sizeOf the function that returns the size of a table */
function indexedDays(sizeOf: string): string {
  return `
    select part.relname as name, ${hasEnded} as ended,
      array(select index.relname::text from pg_catalog.pg_index join pg_catalog.pg_class as index on index.oid = indexrelid
        where indrelid = part.oid and indisvalid) as valid,
      array(select index.relname::text from pg_catalog.pg_index join pg_catalog.pg_class as index on index.oid = indexrelid
        where indrelid = part.oid and not indisvalid) as invalid
    from unnest(array['done', 'failed', 'cancelled']) as state
    join pg_catalog.pg_inherits on inhparent = ('longshore.job_history_' || state)::regclass
    join pg_catalog.pg_class as part on part.oid = inhrelid
    where part.relname ~ '^job_history_(done|failed|cancelled)_[0-9]{8}$'
      and (state = 'failed' or ${hasEnded})
      and ${sizeOf}(part.oid) >= ${minBytes}
      and not exists (select 1 from pg_catalog.pg_stat_progress_create_index where relid = part.oid)
    order by right(part.relname, 8) desc, part.relname`;
}

// The names below derive from the partition names that `selectIndexedDays` returns, so they need no quoting.

export const buildIndex = ({ name, table, definition }: HistoryIndex): string =>
  `create index concurrently if not exists ${name} on longshore.${table} ${definition}`;

export const dropIndex = (name: string): string => `drop index concurrently if exists longshore.${name}`;

export const selectBackend = unprepared('longshore-select-backend', 'select pg_backend_pid() as pid');

/** $1 process id. Cancels the statement that this backend is running. */
export const cancelBackend = unprepared('longshore-cancel-backend', 'select pg_cancel_backend($1)');
