import type { Statement } from '../database.js';

/**
 * The days of history: the name of each table, the state its jobs ended in, and the day (UTC) on which they did. No state: what
 * attempts that began on that day said of themselves.
 */
export const selectPartitions: Statement = {
  name: 'longshore-select-partitions',
  text: `
    select part.relname as name, state, to_char(to_date(right(part.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
    from (values ('job_done_done', 'done'), ('job_done_failed', 'failed'), ('job_done_cancelled', 'cancelled'), ('job_report', null))
      as history (name, state)
    join pg_catalog.pg_inherits on inhparent = ('longshore.' || history.name)::regclass
    join pg_catalog.pg_class as part on part.oid = inhrelid
    where part.relname ~ ('^' || history.name || '_[0-9]{8}$')
    order by part.relname`,
};

/** One at a time changes the set of partitions; the same lock as that of make_partitions(). */
export const onlyDropper: Statement = {
  text: `select pg_advisory_xact_lock('longshore.job_done'::regclass::oid::bigint)`,
};

// The names come from the catalogue and match the pattern above, so they need no quoting.

/** Nobody may delete single jobs of it between the count and the end. */
export const lockPartition = (name: string): string => `lock table longshore.${name} in share mode`;

/** $1 state. */
export const countOff = (name: string): string => `
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, $1::longshore.job_state, -count(*) from longshore.${name} group by queue_id`;

export const dropPartition = (name: string): string => `drop table longshore.${name}`;
