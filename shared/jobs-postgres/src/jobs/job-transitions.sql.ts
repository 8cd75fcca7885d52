import type { JobError, JobState } from '@longshore/jobs';
import { prepared } from '../connection/statement.js';

/** The reasons for transitions that are recorded separately, because the job's row does not show them. */
export type RecordedReason =
  'snoozed' | 'suspended' | 'released' | 'retried' | 'run' | 'rescheduled' | 'parents-ended';

/**
 * A recorded transition. `before` contains columns of the job's row as they were before the transition overwrote them,
 * with times as text and without nulls.
 */
export interface TransitionRow {
  reason: RecordedReason;
  at: Date;
  attempt: number;
  /** Number of recorded transitions that were not read, between the first one and this one. */
  omitted: number;
  before: {
    state?: JobState;
    /** Set if the job waits for other jobs after the transition. */
    waits?: boolean;
    runAt?: string;
    readyAt?: string;
    startedAt?: string;
    serverId?: string;
    finishedAt?: string;
    error?: JobError;
  };
}

/** SQL expressions for the members of `before` that a transition records. */
export type RecordedColumns = Partial<Record<keyof TransitionRow['before'], string>>;

/**
 * Returns the CTE `transitions`, which records one transition for each job in `source`. Transitions are stored with the
 * reports (as line −1) and expire with them.
 */
export function transitionRecorded(source: string, reason: RecordedReason, before: RecordedColumns): string {
  const members = Object.entries(before).map(([member, expression]) => `'${member}', ${expression}`);
  return `
    transitions as (
      insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
      select queue_id, id, now(), -1, attempt, now(), '${reason}', jsonb_strip_nulls(jsonb_build_object(${members.join(', ')}))
      from ${source}
      on conflict do nothing
    )`;
}

/**
 * $1 queue, $2 job, $3 when the job was created, $4 limit. Returns the first recorded transition and the newest ones,
 * oldest first, and counts the others.
 */
export const selectTransitions = prepared(
  'longshore-select-transitions',
  `
    with newest as (
      select * from longshore.job_report
      where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line = -1
      order by started_at desc limit $4
    ), listed as (
      select * from newest
      union all
      (select * from longshore.job_report
      where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line = -1
        and started_at < (select min(started_at) from newest)
      order by started_at limit 1)
    )
    select message as reason, at, attempt, fields as before,
      case when started_at < (select min(started_at) from newest) then 0 else (
        select count(*) from longshore.job_report
        where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line = -1
      )::integer - (select count(*) from listed)::integer end as omitted
    from listed order by started_at`,
);
