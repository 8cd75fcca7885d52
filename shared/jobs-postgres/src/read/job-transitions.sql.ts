import type { JobError, JobState } from '@longshore/jobs';
import { prepared } from '../connection/statement.js';

/** Moves that leave no trace in the job's row. */
export type NotedMove = 'snoozed' | 'released' | 'retried' | 'run' | 'rescheduled' | 'parents-ended';

/** The row before such a move. Times are text; nulls are omitted. */
export interface MoveRow {
  move: NotedMove;
  at: Date;
  attempt: number;
  before: {
    state?: JobState;
    /** Whether the job waits for other jobs after the transition. */
    waits?: boolean;
    runAt?: string;
    readyAt?: string;
    startedAt?: string;
    serverId?: string;
    finishedAt?: string;
    error?: JobError;
  };
}

/** The recorded members of the row and their SQL expressions. */
export type BeforeMove = Partial<Record<keyof MoveRow['before'], string>>;

/**
 * Returns the part of a statement that records a move of each job of `source` for its list of transitions. Not used on the
 * path of plain jobs. Moves are stored with the reports (line −1) and expire with them.
 */
export function moveNoted(source: string, move: NotedMove, before: BeforeMove): string {
  const members = Object.entries(before).map(([member, expression]) => `'${member}', ${expression}`);
  return `
    moves as (
      insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message, fields)
      select queue_id, id, now(), -1, attempt, now(), '${move}', jsonb_strip_nulls(jsonb_build_object(${members.join(', ')}))
      from ${source}
      on conflict do nothing
    )`;
}

/** $1 queue, $2 job, $3 when the job was created. */
export const selectMoves = prepared(
  'longshore-select-moves',
  `
    select message as move, at, attempt, fields as before from longshore.job_report
    where queue_id = $1 and job_id = $2 and started_at >= $3::timestamptz - interval '1 hour' and line = -1
    order by started_at`,
);
