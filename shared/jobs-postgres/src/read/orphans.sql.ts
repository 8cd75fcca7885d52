import type { Statement } from '../connection/database.js';

/** $1 how many rows of each table to look at. Jobs that wait, by queue and name. */
export const selectWaitingNames: Statement = {
  text: `
    select queue.name as queue, waiting.name, waiting.jobs
    from (
      select queue_id, name, count(*)::integer as jobs
      from (
        (select queue_id, name from longshore.job where queue_id > 0 and server_id is null limit $1)
        union all
        (select queue_id, name from longshore.job_waiting where queue_id > 0 limit $1)
      ) as looked_at
      group by queue_id, name
    ) as waiting
    join longshore.queue on queue.id = waiting.queue_id`,
};
