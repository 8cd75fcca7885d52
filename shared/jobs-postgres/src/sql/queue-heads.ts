import type { Statement } from '../database.js';

/** When the next ready job of each of the queues $1 became ready. */
export const selectOldestReady: Statement = {
  name: 'longshore-select-oldest-ready',
  text: `
  select queue.id, next.ready_at
  from unnest($1::integer[]) as queue (id) cross join lateral (
    select ready_at from longshore.job where queue_id = queue.id and server_id is null order by priority, seq limit 1
  ) as next`,
};
