import type { Statement } from '../connection/database.js';

/** Small tables that grew, mostly by dead rows. At these sizes one takes a millisecond or two to read; to rewrite it makes every connection plan its statements anew. */
export const bloatedTables: Statement = {
  name: 'longshore-bloated-tables',
  text: `
    select name from (values ('job_count', 1048576), ('outbox', 1048576), ('job_gap', 1048576), ('queue_bucket', 262144), ('server', 262144))
      as small (name, most)
    where pg_relation_size(('longshore.' || name)::regclass) > most`,
};

export const rewriteCounts: Statement = {
  name: 'longshore-rewrite-counts',
  text: 'select longshore.rewrite_counts() as rewritten',
};

/** $1 table. */
export const rewriteSmallTable: Statement = {
  name: 'longshore-rewrite-small-table',
  text: 'select longshore.rewrite_small_table($1::regclass, 10000) as rewritten',
};
