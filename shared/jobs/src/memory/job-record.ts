import { maxKeptAttempts } from '../job/bounds.js';
import type { Attempt, Claim, ClaimedJob, Job, JobError, JsonText, JsonValue, NewJob } from '../job/job.js';
import type { LogLine, Progress } from '../job/job-log.js';
import { type JobMeta, type JobMetaFields, readMeta } from '../job/meta.js';
import type { Transition, TransitionReason } from '../job/transition.js';
import { isFinished, type JobState } from '../job/state.js';
import type { JobSignal, Step } from '../job/step.js';
import { replacedMeta } from '../storage/key-resolution.js';

/**
 * A job as stored in memory. The arguments and the result are JSON text, so that callers cannot modify the stored
 * values.
 */
export interface JobRecord extends Omit<
  Job,
  'args' | 'result' | 'progress' | 'readyAt' | keyof JobMetaFields
> {
  args: JsonText;
  result: JsonText;
  /**
   * Position among jobs of equal priority: the lowest number runs first. Assigned when the job is created, and again
   * when the job is unblocked.
   */
  seq: number;
  /** When the lease expires, in milliseconds since 1970; 0 before the first claim. */
  leaseUntil: number;
  /** See `ClaimedJob.dueAt`; in milliseconds since 1970, as `readyAt`. */
  dueAt: number;
  readyAt: number;
  /** Whether the job waits for a slot because its concurrency key has reached the limit. */
  blocked: boolean;
  /** Delay of a dependent, in milliseconds, counted from the end of the last parent; `null` if there is none. */
  delayMs: number | null;
  /**
   * Whether a transaction of the attempt is open. While it is, the job is not rescued, and only this transaction can end
   * the attempt.
   */
  locked: boolean;
  /** Resolves when this transaction has ended; `null` if none is open. */
  transaction: Promise<void> | null;
  meta: JobMeta | null;
  readonly pastAttempts: Attempt[];
  /** The latest progress report of the current or most recent attempt; `null` if that attempt reported none. */
  progress: (Progress & { readonly at: Date; readonly writtenAt: Date }) | null;
  readonly log: LogLine[];
  readonly transitions: Transition[];
  /** By name. */
  readonly steps: Map<string, Step>;
  readonly signals: JobSignal[];
  /** How many bytes the data of its signals takes, without those that announce the ends of jobs. */
  signalBytes: number;
  /** When each line of `log` was stored, in the same order as `log`. */
  readonly logWrittenAt: Date[];
  /** Number of times the job was claimed, including attempts that do not count, such as released ones. */
  runs: number;
}

export function newRecord(job: NewJob, seq: number, nowMs: number): JobRecord {
  const awaits = job.after !== undefined && job.after !== null;
  const runAt = awaits && job.due !== null && 'inMs' in job.due ? null : dueDate(job, nowMs);
  return {
    id: job.id,
    name: job.name,
    queue: job.queue,
    state: awaits ? 'awaiting' : runAt === null ? 'enqueued' : 'scheduled',
    priority: job.priority,
    args: job.args,
    result: 'null',
    error: null,
    attempt: 0,
    maxAttempts: job.maxAttempts,
    createdAt: new Date(nowMs),
    runAt,
    startedAt: null,
    finishedAt: null,
    serverId: null,
    seq,
    leaseUntil: 0,
    dueAt: nowMs,
    readyAt: nowMs,
    blocked: false,
    delayMs: null,
    cancelRequestedAt: null,
    cancelReason: null,
    locked: false,
    transaction: null,
    meta: job.meta ?? null,
    pastAttempts: [],
    progress: null,
    log: [],
    transitions: [],
    steps: new Map(),
    signals: [],
    signalBytes: 0,
    logWrittenAt: [],
    runs: 0,
  };
}

/** Replaces the content of an unfinished job that is not running. The job keeps its dependencies and past attempts. */
export function replaceContent(record: JobRecord, job: NewJob, nowMs: number): void {
  const inMs = job.due !== null && 'inMs' in job.due ? job.due.inMs : null;
  record.args = job.args;
  record.priority = job.priority;
  record.maxAttempts = Math.max(job.maxAttempts, record.attempt + 1);
  record.meta = replacedMeta(record.meta, job.meta ?? null);
  record.delayMs = record.state === 'awaiting' ? inMs : null;
  record.runAt = record.state === 'awaiting' && inMs !== null ? null : dueDate(job, nowMs);
}

export function toJob(record: JobRecord): Job {
  return {
    id: record.id,
    name: record.name,
    queue: record.queue,
    state: record.state,
    priority: record.priority,
    args: JSON.parse(record.args) as JsonValue,
    result: JSON.parse(record.result) as JsonValue,
    error: record.error,
    attempt: record.attempt,
    maxAttempts: record.maxAttempts,
    createdAt: record.createdAt,
    runAt: record.runAt,
    delayMs: record.runAt === null ? record.delayMs : null,
    readyAt: record.state === 'enqueued' && !record.blocked ? new Date(record.readyAt) : null,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    progress: toProgress(record),
    serverId: record.serverId,
    cancelRequestedAt: record.cancelRequestedAt,
    cancelReason: record.cancelReason,
    ...readMeta(record.meta, record.state),
  };
}

export function toClaimedJob(record: JobRecord, serverId: string): ClaimedJob {
  const { id: jobId, queue, attempt, name, priority, args, maxAttempts, createdAt, meta } = record;
  return {
    claim: { jobId, queue, serverId, attempt },
    name,
    priority,
    args: JSON.parse(args) as JsonValue,
    maxAttempts,
    createdAt,
    dueAt: new Date(record.dueAt),
    readyAt: new Date(record.readyAt),
    meta,
  };
}

function toProgress({ startedAt, progress }: JobRecord): Progress | null {
  if (startedAt === null || progress === null) return null;
  return { percent: progress.percent, message: progress.message };
}

export function toAttempts({
  pastAttempts,
  serverId,
  startedAt,
  state,
  attempt,
  finishedAt,
  error,
}: JobRecord): Attempt[] {
  if (serverId === null || startedAt === null) return [...pastAttempts];
  if (isFinished(state))
    return [...pastAttempts, { attempt, outcome: state, serverId, startedAt, finishedAt, error }];
  return [
    ...pastAttempts,
    { attempt, outcome: 'processing', serverId, startedAt, finishedAt: null, error: null },
  ];
}

/** Returns whether the claim still has the lease on this job. */
export function hasLease(record: JobRecord | undefined, claim: Claim): record is JobRecord {
  return (
    record?.state === 'processing' && record.serverId === claim.serverId && record.attempt === claim.attempt
  );
}

/** Undoes the start of the current attempt, so that the attempt does not count. */
export function undoStart(record: JobRecord): void {
  record.attempt--;
  record.serverId = null;
  record.startedAt = null;
}

/** Notes since when a job is due and ready. A released job has been since before its attempt. */
export function noteReady(record: JobRecord, reason: TransitionReason | null, nowMs: number): void {
  if (reason === 'released') return;
  record.dueAt = reason === 'due' ? (record.runAt?.getTime() ?? nowMs) : nowMs;
  record.readyAt = nowMs;
}

export function lostError({ serverId, attempt }: JobRecord): JobError {
  const message = `Server ${serverId} died or stopped renewing its lease while it ran attempt ${attempt}`;
  return { name: 'AttemptLost', message, stack: null };
}

/** Adds a past attempt, and removes the second if there would be more than {@link maxKeptAttempts} with the next one. */
export function keepAttempt({ pastAttempts }: JobRecord, attempt: Attempt): void {
  pastAttempts.push(attempt);
  if (pastAttempts.length >= maxKeptAttempts) pastAttempts.splice(1, 1);
}

/**
 * Records a failed or lost attempt of an unfinished job. Stores the error in the job, and clears the job's server and
 * start time.
 */
export function endAttempt(
  record: JobRecord,
  outcome: 'failed' | 'lost',
  error: JobError,
  nowMs: number,
): void {
  const { attempt, serverId, startedAt } = record;
  if (serverId !== null && startedAt !== null) {
    keepAttempt(record, { attempt, outcome, serverId, startedAt, finishedAt: new Date(nowMs), error });
  }
  record.error = error;
  record.serverId = null;
  record.startedAt = null;
}

function dueDate({ due }: NewJob, nowMs: number): Date | null {
  if (due === null) return null;
  return 'at' in due ? due.at : new Date(nowMs + due.inMs);
}

/**
 * Changes a job's state and records the transition.
 *
 * @param reason why the state changes; `null` to record no transition, because only the job's content changes
 */
export function enter(
  record: JobRecord,
  state: JobState,
  reason: TransitionReason | null,
  nowMs: number,
): void {
  const last = record.transitions.at(-1);
  record.state = state;
  if (reason === null) return;
  const run = state === 'processing' ? record : last?.state === 'processing' ? last : null;
  const mayHaveError = last?.state === 'processing' || last?.state === 'awaiting';
  record.transitions.push({
    number: record.transitions.length + 1,
    state,
    reason: state === 'failed' && record.error?.name === 'AttemptLost' ? 'lost' : reason,
    at: reason === 'created' ? record.createdAt : new Date(nowMs),
    attempt: run?.attempt ?? null,
    serverId: run?.serverId ?? null,
    runAt: state === 'scheduled' ? record.runAt : null,
    error: mayHaveError && ['failed', 'cancelled', 'lost'].includes(reason) ? record.error : null,
  });
}
