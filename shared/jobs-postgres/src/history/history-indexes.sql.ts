import { prepared, unprepared } from '../connection/statement.js';

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
