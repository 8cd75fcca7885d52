import { prepared } from '../connection/statement.js';

/**
 * $1 queue, or 0 for all; $2 start of the time range, in milliseconds since 1970; $3 bucket length in milliseconds.
 * Returns the numbers of done and failed jobs by bucket; `at` is in milliseconds since 1970.
 */
export const selectThroughput = prepared(
  'longshore-select-throughput',
  `
    select floor(extract(epoch from at) * 1000 / $3::bigint) * $3::bigint as at, sum(done) as done, sum(failed) as failed
    from (
      select at, done, failed from longshore.throughput
      where queue_id = $1::integer and at >= to_timestamp($2::float8 / 1000)
      union all
      select at, case when state = 'done' then jobs else 0 end, case when state = 'failed' then jobs else 0 end
      from longshore.job_count
      where at >= to_timestamp($2::float8 / 1000) and jobs > 0 and state in ('done', 'failed')
        and ($1 = 0 or queue_id = $1)
    ) as ended
    group by 1`,
);

/**
 * $1 queues; $2 start of the time range, in milliseconds since 1970; $3 bucket length in milliseconds. Does one index
 * lookup per queue. With 1,000 queues, reading an hour takes 3 ms for 8 queues, 7 ms for 50 queues and 19 ms for 100
 * queues.
 */
export const selectThroughputByQueue = prepared(
  'longshore-select-throughput-by-queue',
  `
    select queue_id, extract(epoch from bucket) * 1000 as at, sum(done) as done, sum(failed) as failed
    from (
      select queue_id, date_bin($3::float8 * interval '1 millisecond', at, 'epoch') as bucket, done, failed
      from longshore.throughput
      where queue_id = any ($1::integer[]) and at >= to_timestamp($2::float8 / 1000)
      union all
      select queue_id, date_bin($3::float8 * interval '1 millisecond', at, 'epoch'),
        case when state = 'done' then jobs else 0 end, case when state = 'failed' then jobs else 0 end
      from longshore.job_count
      where queue_id = any ($1) and at >= to_timestamp($2::float8 / 1000) and jobs > 0 and state in ('done', 'failed')
    ) as ended
    group by queue_id, bucket`,
);

/**
 * Deletes old throughput. $1 retention of the totals across all queues, $2 retention of the figures for single queues,
 * both in milliseconds.
 */
export const deleteOldThroughput = prepared(
  'longshore-delete-old-throughput',
  `
    delete from longshore.throughput
    where at < now() - case when queue_id = 0 then $1::float8 else $2::float8 end * interval '1 millisecond'`,
);
