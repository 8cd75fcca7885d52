import type { Attempt, Job } from './job.js';
import type { LogLine, Progress } from './job-log.js';
import { isFinished, type JobState, jobStates } from './state.js';

/** The members that all events share. */
export interface EventSubject {
  /** When the event happened, by the storage's clock. */
  readonly at: Date;
  readonly jobId: string;
  readonly name: string;
  readonly queue: string;
  /** The number of the current or latest attempt; 0 before the first. */
  readonly attempt: number;
  readonly tags: readonly string[];
  readonly batchId: string | null;
  readonly recurringJobId: string | null;
}

/** A job has entered a state. */
export interface StateEvent extends EventSubject {
  readonly kind: 'state';
  readonly state: JobState;
}

/** An attempt has reported progress. Only the latest report is stored, so listeners can miss earlier ones. */
export interface ProgressEvent extends EventSubject, Progress {
  readonly kind: 'progress';
}

/** An attempt has written a log line. */
export interface LogEvent extends EventSubject, Pick<LogLine, 'level' | 'message' | 'fields'> {
  readonly kind: 'log';
  /** The id of the log line, as returned by `listLogs`. */
  readonly line: string;
}

export type JobEvent = StateEvent | ProgressEvent | LogEvent;

/** The topics that listeners can subscribe to: the new state for state events, the kind for other events. */
export const eventTopics = [...jobStates, 'progress', 'log'] as const;

export type EventTopic = (typeof eventTopics)[number];

export function topicOf(event: JobEvent): EventTopic {
  return event.kind === 'state' ? event.state : event.kind;
}

/** Returns a key that identifies the event, so that duplicates can be recognized. */
export function keyOf(event: JobEvent): string {
  const which = event.kind === 'log' ? event.line : event.at.getTime();
  return `${event.jobId} ${topicOf(event)} ${which}`;
}

/** The members of a job that {@link stateEventsOf} reads. */
export type JobTimeline = Pick<
  Job,
  | 'id'
  | 'name'
  | 'queue'
  | 'state'
  | 'attempt'
  | 'createdAt'
  | 'runAt'
  | 'finishedAt'
  | 'tags'
  | 'parentId'
  | 'batchId'
  | 'recurringJobId'
>;

/**
 * Derives a job's past states from the stored job and its attempts. The events are in this order: creation, the start
 * and end of each attempt, and the end of the job.
 *
 * Omits changes that are recorded in neither the job nor its attempts. Examples: a scheduled job became ready, a
 * handler snoozed the job, an operator retried it.
 */
export function stateEventsOf(job: JobTimeline, attempts: readonly Attempt[]): StateEvent[] {
  const { id: jobId, name, queue, tags, batchId, recurringJobId } = job;
  const event = (state: JobState, at: Date, attempt: number): StateEvent => {
    return { kind: 'state', at, jobId, name, queue, state, attempt, tags, batchId, recurringJobId };
  };
  const events = [event(firstState(job, attempts[0]), job.createdAt, 0)];
  for (const { attempt, outcome, startedAt, finishedAt } of attempts) {
    events.push(event('processing', startedAt, attempt));
    if (finishedAt === null || finishedAt.getTime() === job.finishedAt?.getTime()) continue;
    if (outcome === 'failed') events.push(event('scheduled', finishedAt, attempt));
    else if (outcome === 'lost') events.push(event('enqueued', finishedAt, attempt));
    else if (outcome === 'cancelled') events.push(event('cancelled', finishedAt, attempt));
  }
  if (isFinished(job.state) && job.finishedAt !== null)
    events.push(event(job.state, job.finishedAt, job.attempt));
  return events;
}

/**
 * Returns the state in which a job was created. If `runAt` is later than the start of the first attempt, a retry, a
 * snooze or an operator has changed it since. In that case, the original value is unknown, and `enqueued` is assumed.
 */
function firstState({ parentId, runAt }: JobTimeline, first: Attempt | undefined): JobState {
  if (parentId !== null) return 'awaiting';
  const waited = runAt !== null && (first === undefined || runAt <= first.startedAt);
  return waited ? 'scheduled' : 'enqueued';
}
