import type { Statement } from '../database.js';

export interface PartitionRow {
  name: string;
  /** Names of its indexes. */
  valid: string[];
  invalid: string[];
}

interface HistoryIndex {
  readonly name: string;
  readonly table: string;
  readonly definition: string;
}

/** What a day of history is searched by: its jobs by queue and by name in the order of ids, and what arguments contain. */
export function historyIndexes(table: string): HistoryIndex[] {
  return [
    { name: `${table}_queue`, table, definition: '(queue_id, id)' },
    { name: `${table}_name`, table, definition: '(name, id)' },
    { name: `${table}_args`, table, definition: 'using gin (args jsonb_path_ops)' },
  ];
}

/** Smaller days are read as fast without. */
const minBytes = 4_194_304;

/** Days that have ended, the youngest first, on which nobody builds an index. The last quarter of an hour may still be written. */
export const selectEndedDays: Statement = {
  name: 'longshore-select-ended-days',
  text: `
    select part.relname as name,
      array(select index.relname::text from pg_catalog.pg_index join pg_catalog.pg_class as index on index.oid = indexrelid
        where indrelid = part.oid and indisvalid) as valid,
      array(select index.relname::text from pg_catalog.pg_index join pg_catalog.pg_class as index on index.oid = indexrelid
        where indrelid = part.oid and not indisvalid) as invalid
    from unnest(array['done', 'failed', 'cancelled']) as state
    join pg_catalog.pg_inherits on inhparent = ('longshore.job_done_' || state)::regclass
    join pg_catalog.pg_class as part on part.oid = inhrelid
    where part.relname ~ '^job_done_(done|failed|cancelled)_[0-9]{8}$'
      and to_date(right(part.relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC' - interval '15 minutes')::date
      and pg_relation_size(part.oid) >= ${minBytes}
      and not exists (select from pg_catalog.pg_stat_progress_create_index where relid = part.oid)
    order by right(part.relname, 8) desc, part.relname`,
};

// The names come from the catalogue and match the pattern above, so they need no quoting.

export const buildIndex = ({ name, table, definition }: HistoryIndex): string =>
  `create index concurrently if not exists ${name} on longshore.${table} ${definition}`;

export const dropIndex = (name: string): string => `drop index concurrently if exists longshore.${name}`;

export const selectBackend: Statement = { text: 'select pg_backend_pid() as pid' };

/** $1 process id. */
export const cancelBackend: Statement = { text: 'select pg_cancel_backend($1)' };
