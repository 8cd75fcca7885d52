import { sortCollation } from '@longshore/edge';
import { prepared } from '../connection/statement.js';
import { endedPause, isPaused, pauseColumns, type PauseRow } from '../queues/pause.sql.js';

export type PausedTypeRow = PauseRow & { name: string; paused_at: Date };

export const selectPaused = prepared(
  'longshore-select-paused-types',
  `select name, ${pauseColumns} from longshore.paused_type where ${isPaused} order by name collate ${sortCollation}`,
);

/** $1 name. Locks a job type until the transaction ends, so that concurrent changes run one after another. */
export const lockType = prepared(
  'longshore-lock-type',
  `select pg_advisory_xact_lock(longshore.lock_key('paused_type', hashtext($1)))::text`,
);

/** $1 name. Returns no row if the type is not paused. */
export const selectPause = prepared(
  'longshore-select-type-pause',
  `select name, ${pauseColumns} from longshore.paused_type where name = $1 and ${isPaused}`,
);

/** $1 name, $2 who paused it, $3 reason, $4 end, or null. */
export const pauseType = prepared(
  'longshore-pause-type',
  `
    insert into longshore.paused_type (name, paused_by, pause_reason, paused_until) values ($1, $2, $3, $4)
    on conflict (name) do update set paused_at = now(), paused_by = $2, pause_reason = $3, paused_until = $4`,
);

/**
 * $1 name. Resumes a job type. Records scan gaps for the ready jobs of this type, because scans might have passed these
 * jobs. Returns their queues, or a single null if there are none. Returns no row if no pause of the type is stored.
 */
export const resumeType = prepared('longshore-resume-type', resumption('true'));

/** Like {@link resumeType}, but only if the pause has ended; otherwise returns no row. */
export const resumeTypeWhenDue = prepared('longshore-resume-type-when-due', resumption(endedPause));

/** @param condition SQL condition on the row of the paused type */
function resumption(condition: string): string {
  return `
    with resumed as (
      delete from longshore.paused_type where name = $1 and ${condition} returning name
    ),
    gap as (
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
      select queue_id, priority, min(seq), max(seq) from longshore.job
      where name in (select name from resumed) and server_id is null and queue_id > 0
      group by queue_id, priority
      returning queue_id
    )
    select distinct gap.queue_id from resumed left join gap on true`;
}
