import { prepared } from '../connection/statement.js';

export const selectPaused = prepared(
  'longshore-select-paused-types',
  `select name, paused_at as "pausedAt" from longshore.paused_type order by name`,
);

/** $1 name. Serializes concurrent changes of a job type. */
export const lockType = prepared(
  'longshore-lock-type',
  `select pg_advisory_xact_lock('longshore.paused_type'::regclass::oid::integer, hashtext($1))`,
);

/** $1 name. */
export const selectPausedAt = prepared(
  'longshore-select-paused-at',
  `select paused_at from longshore.paused_type where name = $1`,
);

/** $1 name. */
export const pauseType = prepared(
  'longshore-pause-type',
  `insert into longshore.paused_type (name) values ($1) on conflict (name) do nothing`,
);

/**
 * $1 name. Resumes a job type and returns the queues of its ready jobs. Scans have passed these jobs, so it records their
 * places as gaps.
 */
export const resumeType = prepared(
  'longshore-resume-type',
  `
    with resumed as (
      delete from longshore.paused_type where name = $1 returning name
    ),
    gap as (
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
      select queue_id, priority, min(seq), max(seq) from longshore.job
      where name in (select name from resumed) and server_id is null and queue_id > 0
      group by queue_id, priority
      returning queue_id
    )
    select distinct queue_id from gap`,
);
