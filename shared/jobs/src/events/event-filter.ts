import type { JobEvent } from '../job/job-event.js';
import { type JobState, jobStates } from '../job/state.js';

/** Which events: those that match every given member; within a member, any of its values. */
export interface EventFilter {
  readonly jobId?: string;
  readonly state?: readonly JobState[];
  readonly queue?: readonly string[];
  readonly name?: readonly string[];
  readonly tag?: readonly string[];
  readonly batchId?: readonly string[];
  readonly recurringJobId?: readonly string[];
}

/** Whether an event is one that the filter asks for. */
export function admits(filter: EventFilter, event: JobEvent): boolean {
  return (
    (filter.jobId === undefined || filter.jobId === event.jobId) &&
    hasAny(filter.state, [event.state]) &&
    hasAny(filter.queue, [event.queue]) &&
    hasAny(filter.name, [event.name]) &&
    hasAny(filter.tag, event.tags) &&
    hasAny(filter.batchId, [event.batchId]) &&
    hasAny(filter.recurringJobId, [event.recurringJobId])
  );
}

/** The states whose events the filter can let through. */
export function statesWanted({ state }: EventFilter): readonly JobState[] {
  return state === undefined || state.length === 0 ? jobStates : state;
}

function hasAny(wanted: readonly unknown[] | undefined, values: readonly unknown[]): boolean {
  return wanted === undefined || wanted.length === 0 || values.some((value) => wanted.includes(value));
}
