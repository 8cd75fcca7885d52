import {
  type Attempt,
  type AttemptOutcome,
  type Job,
  type JobError,
  type JobMeta,
  type JobState,
  type JsonValue,
  type Progress,
  readMeta,
} from '@longshore/jobs';

/** A job as the read queries give it, from whichever table. */
export interface JobRow {
  id: string;
  queue_id: number;
  state: JobState;
  name: string;
  priority: number;
  args: JsonValue;
  result: JsonValue;
  error: JobError | null;
  attempt: number;
  max_attempts: number;
  created_at: Date;
  run_at: Date | null;
  /** When it last became ready; `null` while it waits, or if a concurrency key holds it back. */
  ready_at: Date | null;
  started_at: Date | null;
  finished_at: Date | null;
  progress: Progress | null;
  server_id: string | null;
  meta: JobMeta | null;
  past_attempts: PastAttempt[] | null;
}

/** An attempt that did not end the job, as it is kept with the job. */
export interface PastAttempt {
  attempt: number;
  outcome: AttemptOutcome;
  serverId: string;
  startedAt: string;
  finishedAt: string;
  /** Of the row at the time; attempts of old may lack them. */
  runAt?: string | null;
  readyAt?: string | null;
  error: JobError | null;
}

export function toJob(row: JobRow, queue: string): Job {
  return {
    id: row.id,
    name: row.name,
    queue,
    state: row.state,
    priority: row.priority,
    args: row.args,
    result: row.result,
    error: row.error,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    createdAt: row.created_at,
    runAt: row.run_at,
    readyAt: row.state === 'enqueued' ? row.ready_at : null,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    progress: row.progress,
    serverId: row.server_id,
    ...readMeta(row.meta),
  };
}

type AttemptColumns = Pick<
  JobRow,
  'state' | 'attempt' | 'server_id' | 'started_at' | 'finished_at' | 'error' | 'past_attempts'
>;

/** Oldest first: the past ones, then the one that runs or that ended the job. */
export function toAttempts(row: AttemptColumns): Attempt[] {
  const attempts: Attempt[] = (row.past_attempts ?? []).map((past) => ({
    attempt: past.attempt,
    outcome: past.outcome,
    serverId: past.serverId,
    startedAt: new Date(past.startedAt),
    finishedAt: new Date(past.finishedAt),
    error: past.error,
  }));
  const { state, attempt, server_id: serverId, started_at: startedAt, finished_at: finishedAt, error } = row;
  if (serverId === null || startedAt === null) return attempts;
  if (state === 'done' || state === 'failed' || state === 'cancelled') {
    attempts.push({ attempt, outcome: state, serverId, startedAt, finishedAt, error });
  } else if (state === 'processing') {
    attempts.push({ attempt, outcome: state, serverId, startedAt, finishedAt: null, error: null });
  }
  return attempts;
}
