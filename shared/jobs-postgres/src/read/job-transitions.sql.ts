import type { JobError, JobState } from '@longshore/jobs';
import { prepared } from '../connection/statement.js';

/** The reasons for transitions that are recorded separately, because the job's row does not show them. */
export type RecordedReason = 'snoozed' | 'released' | 'retried' | 'run' | 'rescheduled' | 'parents-ended';

/**
 * A recorded transition. `before` contains columns of the job's row as they were before the transition overwrote them,
 * with times as text and without nulls.
 */
export interface TransitionRow {
  reason: RecordedReason;
  at: Date;
  attempt: number;
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

/** $1 queue, $2 job, $3 when the job was created. Returns the recorded transitions, oldest first. */
export const selectTransitions = prepared(
  'longshore-select-transitions',
  `
    select message as reason, at, attempt, fields as before from longshore.job_report
    where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line = -1
    order by started_at`,
);
