import type { Statement } from '../database.js';

/** When the next ready job of each of the queues $1 became ready, in milliseconds since 1970: of a thousand, dates take 1 ms to read. */
export const selectOldestReady: Statement = {
  name: 'longshore-select-oldest-ready',
  text: `
  select queue.id, (extract(epoch from next.ready_at) * 1000)::float8 as ready_at
  from unnest($1::integer[]) as queue (id) cross join lateral (
    select ready_at from longshore.job where queue_id = queue.id and server_id is null order by priority, seq limit 1
  ) as next`,
};
