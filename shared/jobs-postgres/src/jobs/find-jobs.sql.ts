import { prepared, unprepared } from '../connection/statement.js';
import { columnsIn, finished, inLiveTables } from './job-columns.sql.js';
import { reportedOf } from './reports.sql.js';
import { isShown } from '../queues/shown-queues.sql.js';

/**
 * $1 id, $2 queue, or null if unknown. Finds a job in any state. Prepared, because planning the scans of all partitions
 * takes longer than running them.
 */
export const findJob = prepared(
  'longshore-find-job',
  `select found.*, ${reportedOf('found')} from (${jobWithId('$1', '$2::integer')}) as found`,
);

export interface DocumentsRow {
  readonly queue_id: number;
  readonly args: string;
  readonly result: string;
}

/**
 * $1 id, $2 queue, or null if unknown. Reads a job's arguments and result as JSON text, which preserves all digits of
 * numbers.
 */
export const findDocuments = prepared(
  'longshore-find-documents',
  `select found.queue_id, found.args::text as args, coalesce(found.result::text, 'null') as result from (${jobWithId('$1', '$2::integer')}) as found`,
);

/** $1 ids. Returns the jobs with their arguments and results, in the order of these ids. */
export const findJobs = prepared(
  'longshore-find-jobs',
  `
  select found.*, ${reportedOf('found')}
  from unnest($1::uuid[]) with ordinality as wanted (wanted_id, place)
  cross join lateral (${jobWithId('wanted_id')}) as found
  order by place`,
);

/** $1 ids. Returns the total size of the jobs' arguments and results in bytes. */
export const sizeOfJobs = prepared(
  'longshore-size-of-jobs',
  `
  select coalesce(sum(octet_length(found.args::text) + coalesce(octet_length(found.result::text), 0)), 0)::float8 as bytes
  from unnest($1::uuid[]) as wanted (wanted_id)
  cross join lateral (${jobWithId('wanted_id')}) as found`,
);

/**
 * Returns a query for the job with this id. Searches history first, then the live tables. The live tables have no index
 * on the id alone. If the queue id is null, every queue is searched, which takes 5 ms with 1000 queues.
 */
export function jobWithId(id: string, queue = 'null::integer'): string {
  return `
  select ${finished} from longshore.job_history where id = ${id}
  union all
  select found.* from longshore.queue cross join lateral (
    ${inLiveTables((table) => `select ${columnsIn[table]} from longshore.${table} where queue_id = queue.id and id = ${id}`)}
  ) as found
  where (${queue} is null or queue.id = ${queue}) and ${isShown}
  limit 1`;
}

/**
 * $1 maximum number of rows to read from each table. Counts the ready and scheduled jobs among these rows by queue and
 * name.
 */
export const selectWaitingNames = unprepared(
  'longshore-select-waiting-names',
  `
    select queue.name as queue, waiting.name, waiting.jobs
    from (
      select queue_id, name, count(*)::integer as jobs
      from (
        (select queue_id, name from longshore.job where queue_id > 0 and server_id is null limit $1)
        union all
        (select queue_id, name from longshore.job_scheduled where queue_id > 0 limit $1)
      ) as looked_at
      group by queue_id, name
    ) as waiting
    join longshore.queue on queue.id = waiting.queue_id`,
);
