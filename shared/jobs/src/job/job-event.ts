import type { Attempt, Job } from './job.js';
import { isFinished, type JobState } from './state.js';

/** A job has come to a state. */
export interface StateEvent {
  readonly kind: 'state';
  /** When, by the storage's clock. */
  readonly at: Date;
  readonly jobId: string;
  readonly name: string;
  readonly queue: string;
  readonly state: JobState;
  /** The number of the current or latest attempt; 0 before the first. */
  readonly attempt: number;
  readonly tags: readonly string[];
  readonly batchId: string | null;
  readonly recurringJobId: string | null;
}

export type JobEvent = StateEvent;

/** What a job's states so far can be read from. */
export type JobCourse = Pick<
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
 * The states that a job has been in, oldest first, as far as what is stored tells: its creation, the start and the end of
 * each attempt, its end. That a scheduled or awaiting job became ready is not among them, nor that one snoozes or was retried
 * by an operator: the start of the attempt that follows is.
 */
export function stateEventsOf(job: JobCourse, attempts: readonly Attempt[]): StateEvent[] {
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

/** A time set after the first attempt is that of a retry. */
function firstState({ parentId, runAt }: JobCourse, first: Attempt | undefined): JobState {
  if (parentId !== null) return 'awaiting';
  const waited = runAt !== null && (first === undefined || runAt <= first.startedAt);
  return waited ? 'scheduled' : 'enqueued';
}
