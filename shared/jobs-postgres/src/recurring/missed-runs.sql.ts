import { prepared } from '../connection/statement.js';

/**
 * $1 id of the recurring job, $2 start and $3 end of the span, $4 reason. Records a span of missed runs. If a recorded
 * span with the same reason ends where this one starts, extends the recorded span instead.
 */
export const recordMissed = prepared(
  'longshore-record-missed-run',
  `
    with extended as (
      update longshore.missed_run set until_at = $3::timestamptz
      where recurring_job_id = $1 and until_at = $2::timestamptz and reason = $4
      returning 1
    )
    insert into longshore.missed_run (recurring_job_id, from_at, until_at, reason)
    select $1, $2::timestamptz, $3::timestamptz, $4 where not exists (select 1 from extended)
    on conflict (recurring_job_id, from_at) do update
    set until_at = greatest(missed_run.until_at, excluded.until_at), reason = excluded.reason`,
);

/**
 * $1 ids of recurring jobs, $2 maximum number of spans for each of these jobs. Selects the latest spans of missed runs,
 * newest first.
 */
export const selectMissed = prepared(
  'longshore-select-missed-runs',
  `
    select missed.recurring_job_id as "recurringJobId", missed.from_at as "from", missed.until_at as "until", missed.reason
    from unnest($1::text[]) as wanted (id) cross join lateral (
      select * from longshore.missed_run where recurring_job_id = wanted.id order by from_at desc limit $2
    ) as missed
    order by missed.from_at desc, missed.recurring_job_id`,
);

/** $1 maximum age in days. */
export const deleteOldMissed = prepared(
  'longshore-delete-old-missed-runs',
  `delete from longshore.missed_run where until_at < now() - $1 * interval '1 day'`,
);
