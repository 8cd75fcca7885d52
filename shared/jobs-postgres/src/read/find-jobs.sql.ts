import type { Statement } from '../connection/database.js';
import { finished, held, ready, waiting } from './job-columns.sql.js';
import { progressOf } from './reports.sql.js';
import { isShown } from './shown-queues.sql.js';

/** The job with one id, wherever it is in its life. $1 id, $2 its queue if that is known. Prepared: to plan it for every partition takes longer than to run it. */
export const findJob: Statement = {
  name: 'longshore-find-job',
  text: `select found.*, ${progressOf('found')} from (${jobWithId('$1', '$2::integer')}) as found`,
};

export interface DocumentsRow {
  readonly queue_id: number;
  readonly args: string;
  readonly result: string;
}

/** What the job with the id $1, of the queue $2 if that is known, was given and returned, with all digits. */
export const findDocuments: Statement = {
  name: 'longshore-find-documents',
  text: `select found.queue_id, found.args::text as args, coalesce(found.result::text, 'null') as result from (${jobWithId('$1', '$2::integer')}) as found`,
};

/** The jobs with the ids $1, in their order. */
export const findJobs: Statement = {
  name: 'longshore-find-jobs',
  text: `
  select found.*, ${progressOf('found')}
  from unnest($1::uuid[]) with ordinality as wanted (wanted_id, place)
  cross join lateral (${jobWithId('wanted_id')}) as found
  order by place`,
};

/** $1 ids. How many bytes what these jobs were given and returned takes. */
export const sizeOfJobs: Statement = {
  name: 'longshore-size-of-jobs',
  text: `
  select coalesce(sum(octet_length(found.args::text) + coalesce(octet_length(found.result::text), 0)), 0)::float8 as bytes
  from unnest($1::uuid[]) as wanted (wanted_id)
  cross join lateral (${jobWithId('wanted_id')}) as found`,
};

/** Of those that have not finished, the id alone is in no index: each queue is asked (of 1000, 5 ms) unless it is known, and only for what is not in history. */
export function jobWithId(id: string, queue = 'null::integer'): string {
  return `
  select ${finished} from longshore.job_done where id = ${id}
  union all
  select found.* from longshore.queue cross join lateral (
    select ${waiting('scheduled')} from longshore.job_waiting where queue_id = queue.id and id = ${id}
    union all
    select ${waiting('awaiting')} from longshore.job_awaiting where queue_id = queue.id and id = ${id}
    union all
    select ${ready('enqueued')} from longshore.job where queue_id = queue.id and id = ${id} and server_id is null
    union all
    select ${ready('processing')} from longshore.job where queue_id = queue.id and id = ${id} and server_id is not null
    union all
    select ${held} from longshore.job_held where queue_id = queue.id and id = ${id}
  ) as found
  where (${queue} is null or queue.id = ${queue}) and ${isShown}
  limit 1`;
}
