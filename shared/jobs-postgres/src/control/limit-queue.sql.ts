import type { Statement } from '../connection/database.js';
import { asSeen, isBack } from './job-control.sql.js';

/** $1 queue, $2 whether to set the concurrency limit, $3 to what, $4 whether to set the rate limit, $5 to what, $6 tokens of a new bucket, $7 to $10 what was seen of it. */
export const limitQueue: Statement = {
  name: 'longshore-limit-queue',
  text: `
    with bucket as (
      insert into longshore.queue_bucket (queue_id, tokens) values ($1, $6) on conflict do nothing
    )
    update longshore.queue
    set concurrency_limit = case when $2::boolean then $3::integer else concurrency_limit end,
      rate_limit = case when $4::boolean then $5::jsonb else rate_limit end,
      ${isBack}
    where id = $1 and ${asSeen(7)}
    returning id`,
};
