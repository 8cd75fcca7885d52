import type { Job, JobError, JobState, JsonValue } from '@longshore/jobs';
import {
  type Attempt,
  type AttemptOutcome,
  bounds,
  clamp,
  isDelay,
  isId,
  type JobMeta,
  maxCountedAttempts,
  type Progress,
  readMeta,
  unreadableMeta,
} from '@longshore/jobs/storage';
import {
  isObject,
  isReadableError,
  readError,
  readProgress,
  readTime,
  UnreadableTime,
} from '../connection/stored-value.js';
import type { Run } from '../connection/run.js';
import { findJob } from './find-jobs.sql.js';

/** The row of a job, as all read queries return it. */
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
  /**
   * When the job last became ready. `null` if the job is waiting or blocked by a concurrency key, or was cancelled
   * before it became ready.
   */
  ready_at: Date | null;
  started_at: Date | null;
  finished_at: Date | null;
  progress: Progress | null;
  /** The request to cancel the job; `null` or missing if there is none. */
  cancellation?: { readonly requestedAt: string; readonly reason: string | null } | null;
  server_id: string | null;
  meta: JobMeta | null;
  past_attempts: PastAttempt[] | null;
}

/** An attempt that did not end the job, as stored with the job. */
export interface PastAttempt {
  attempt: number;
  outcome: AttemptOutcome;
  serverId: string;
  startedAt: string;
  finishedAt: string;
  /**
   * The values of the job's `run_at` and `ready_at` during the attempt. Attempts stored by earlier versions may lack
   * both.
   */
  runAt?: string | null;
  readyAt?: string | null;
  error: JobError | null;
}

/** Converts a row to a job. Never throws: unreadable values are replaced with valid ones and listed in `unreadable`. */
export function toJob(row: JobRow, queue: string): Job {
  const job: Job = {
    id: row.id,
    name: row.name,
    queue,
    state: row.state,
    priority: clamp(row.priority, bounds.priority),
    args: row.args,
    result: row.result,
    error: readError(row.error),
    attempt: row.attempt,
    maxAttempts: clamp(row.max_attempts, countedAttempts),
    createdAt: row.created_at,
    runAt: row.run_at,
    delayMs: row.run_at === null ? readDelay(row.meta) : null,
    readyAt: row.state === 'enqueued' ? row.ready_at : null,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    progress: readProgress(row.progress),
    serverId: row.server_id,
    ...toRequest(row.cancellation),
    ...readMeta(row.meta, row.state),
  };
  const unreadable = unreadableOf(row, job);
  return unreadable.length === 0 ? job : { ...job, unreadable };
}

function toRequest(request: JobRow['cancellation']): Pick<Job, 'cancelRequestedAt' | 'cancelReason'> {
  if (request === null || request === undefined) return { cancelRequestedAt: null, cancelReason: null };
  return { cancelRequestedAt: readTime(request.requestedAt), cancelReason: request.reason };
}

function readDelay(meta: JobMeta | null): number | null {
  const delay: unknown = isObject(meta) ? meta['delayMs'] : null;
  return isDelay(delay) ? delay : null;
}

const countedAttempts = { min: 1, max: maxCountedAttempts };
const times = ['createdAt', 'runAt', 'readyAt', 'startedAt', 'finishedAt'] as const;

/**
 * Returns the names of the job's members that have unreadable stored values; `attempts` stands for the past attempts.
 */
function unreadableOf(row: JobRow, job: Job): string[] {
  return [
    ...times.filter((member) => job[member] instanceof UnreadableTime),
    ...(job.priority === row.priority ? [] : ['priority']),
    ...(job.maxAttempts === row.max_attempts ? [] : ['maxAttempts']),
    ...(row.error === null || isReadableError(row.error) ? [] : ['error']),
    ...unreadableMeta(row.meta),
    ...(row.past_attempts === null || Array.isArray(row.past_attempts) ? [] : ['attempts']),
  ];
}

type AttemptColumns = Pick<
  JobRow,
  'state' | 'attempt' | 'server_id' | 'started_at' | 'finished_at' | 'error' | 'past_attempts'
>;

/** Returns the readable past attempts of a row, oldest first. */
export function pastAttemptsOf({ past_attempts: past }: Pick<JobRow, 'past_attempts'>): PastAttempt[] {
  return Array.isArray(past) ? (past as unknown[]).filter(isObject).map(readPastAttempt) : [];
}

/** The id shown in place of an unknown server. */
const unknownServerId = '00000000-0000-0000-0000-000000000000';

function readPastAttempt(past: Record<string, unknown>, index: number): PastAttempt {
  const { attempt, outcome, serverId, startedAt, finishedAt, runAt, readyAt, error } = past;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return {
    attempt: Number.isInteger(attempt) ? (attempt as number) : index + 1,
    outcome: outcome === 'lost' || outcome === 'cancelled' ? outcome : 'failed',
    serverId: text(serverId) ?? unknownServerId,
    startedAt: text(startedAt) ?? '',
    finishedAt: text(finishedAt) ?? '',
    runAt: text(runAt),
    readyAt: text(readyAt),
    error: readError(error),
  };
}

/**
 * Returns the past attempts, followed by the attempt that is running or that ended the job, if there is one. Never
 * throws.
 */
export function toAttempts(row: AttemptColumns): Attempt[] {
  const attempts: Attempt[] = pastAttemptsOf(row).map((past) => ({
    attempt: past.attempt,
    outcome: past.outcome,
    serverId: past.serverId,
    startedAt: readTime(past.startedAt),
    finishedAt: readTime(past.finishedAt),
    error: past.error,
  }));
  const { state, attempt, server_id: serverId, started_at: startedAt, finished_at: finishedAt } = row;
  const error = readError(row.error);
  if (serverId === null || startedAt === null) return attempts;
  if (state === 'done' || state === 'failed' || state === 'cancelled') {
    attempts.push({ attempt, outcome: state, serverId, startedAt, finishedAt, error });
  } else if (state === 'processing') {
    attempts.push({ attempt, outcome: state, serverId, startedAt, finishedAt: null, error: null });
  }
  return attempts;
}

/**
 * Returns a job's row as a transaction sees it; `undefined` if there is no such job.
 *
 * @param run runs a statement in the transaction
 */
export async function findRowOn(run: Run, id: string): Promise<JobRow | undefined> {
  if (!isId(id)) return undefined;
  const [row] = await run(findJob, [id, null]);
  return row as JobRow | undefined;
}
