import type { Pausable } from '@longshore/jobs/storage';
import { endedPause, endPause } from '../queues/pause.sql.js';
import { prepared } from '../connection/statement.js';

export interface PauseEndRow {
  kind: Pausable;
  /** The name of the queue or the job type, or the id of the recurring job. */
  key: string;
  /** Milliseconds until the pause ends, but at most a day; 0 if the pause has ended. */
  due_in: number;
}

/**
 * $1 limit. Selects the pauses that end first. Skips a pause if its resumption is set aside and not due for a retry.
 */
export const selectPauseEnds = prepared(
  'longshore-select-pause-ends',
  `
    select kind, key, greatest(extract(epoch from least(paused_until, now() + interval '1 day') - now()), 0)::float8 * 1000 as due_in
    from (
      select 'queue' as kind, name as key, paused_until from longshore.queue where paused_at is not null and paused_until is not null
      union all
      select 'type', name, paused_until from longshore.paused_type where paused_until is not null
      union all
      select 'recurring', id, paused_until from longshore.recurring_job where paused_at is not null and paused_until is not null
    ) as pause
    where not exists (
      select 1 from longshore.set_aside as aside
      where aside.role = 'resumer' and aside.key = pause.kind || ' ' || pause.key
        and (aside.retry_at > now() or aside.discarded_at is not null)
    )
    order by paused_until limit $1`,
);

/** $1 name. Resumes a queue if its pause has ended; otherwise returns no row. */
export const resumeQueueWhenDue = prepared(
  'longshore-resume-queue-when-due',
  `update longshore.queue set ${endPause} where name = $1 and ${endedPause} returning id`,
);

/** $1 id. Locks and returns a recurring job if its pause has ended; `now` is the current time. */
export const lockRecurringWhenDue = prepared(
  'longshore-lock-recurring-when-due',
  `select *, now() as now from longshore.recurring_job where id = $1 and ${endedPause} for update`,
);
