import { isFinished, jobStates, type NewPause, type PauseState } from '@longshore/jobs/storage';

/** The columns of a pause, as {@link pauseColumns} selects them; all null if the row is not paused. */
export interface PauseRow {
  paused_at: Date | null;
  paused_by: string | null;
  pause_reason: string | null;
  paused_until: Date | null;
}

/** SQL condition: the row has a pause that has not ended. */
export const isPaused = '(paused_at is not null and coalesce(paused_until > now(), true))';

/** SQL condition: the row still has a pause, but the pause has ended. */
export const endedPause = '(paused_at is not null and paused_until <= now())';

/** The select list for a row's pause; all columns are null if the row is not paused. */
export const pauseColumns = ['paused_at', 'paused_by', 'pause_reason', 'paused_until']
  .map((column) => `case when ${isPaused} then ${column} end as ${column}`)
  .join(', ');

/** SQL assignments that begin a pause: $2 who paused, $3 reason, $4 end or null. */
export const beginPause = 'paused_at = now(), paused_by = $2, pause_reason = $3, paused_until = $4';

/** SQL assignments that end a pause. */
export const endPause = 'paused_at = null, paused_by = null, pause_reason = null, paused_until = null';

/** Subquery for the names of the paused job types. */
export const pausedTypes = `select name from longshore.paused_type where ${isPaused}`;

export function toPauseState(row: PauseRow): PauseState {
  return {
    pausedAt: row.paused_at,
    pausedBy: row.paused_by,
    pauseReason: row.pause_reason,
    pausedUntil: row.paused_until,
  };
}

/** Returns parameters $2 to $4 of {@link beginPause}. */
export function pauseValues({ by, reason, until }: NewPause): unknown[] {
  return [by, reason, until];
}

const unfinished = jobStates
  .filter((state) => !isFinished(state))
  .map((state) => `'${state}'`)
  .join(', ');

/**
 * Condition on `longshore.queue`: the queue has unfinished jobs. The subquery does not depend on the queue, so Postgres
 * reads the counters only once per statement.
 */
export const holdsJobs = `queue.id in (
      select queue_id from longshore.job_count where state in (${unfinished}) group by queue_id having sum(jobs) > 0
    )`;

/** Condition on `longshore.queue`: a registered server processes the jobs of the queue. */
export const isServed = `queue.name in (select unnest(server.queues) from longshore.server)`;

/**
 * Condition on `longshore.queue`: the queue has not been retired, or is in use again. Enqueuing does not check whether
 * a queue has been retired, because the check would cost time. A queue with unfinished jobs is therefore shown even if
 * its row says that it is retired.
 */
export const isShown = `(queue.retired_at is null or ${holdsJobs} or ${isServed})`;
