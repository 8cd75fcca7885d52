import { isListOf, isOneOf, isString, isText } from '../job/argument-check.js';
import { type EventTopic, eventTopics, type JobEvent } from '../job/job-event.js';
import { checkOptions, type OptionNames } from '../job/options.js';
import { type JobState, jobStates } from '../job/state.js';
import type { FeedFilter } from '../storage/job-feed.js';

/**
 * Selects events. An event must match every member that is present. A list matches if it is empty or contains the
 * event's value. For `tag`, one of the event's tags is enough.
 */
export interface EventFilter extends FeedFilter {
  readonly jobId?: string;
  readonly kind?: readonly JobEvent['kind'][];
  /** Matches only state events with one of these states. An empty list matches every event. */
  readonly state?: readonly JobState[];
}

const eventKinds: readonly JobEvent['kind'][] = ['state', 'progress', 'log'];
const isTexts = isListOf(isText);

const filterMembers: OptionNames<EventFilter> = {
  jobId: isString,
  kind: isListOf(isOneOf(eventKinds)),
  state: isListOf(isOneOf(jobStates)),
  queue: isTexts,
  name: isTexts,
  tag: isTexts,
  batchId: isListOf(isString),
  recurringJobId: isTexts,
};

/**
 * @throws {TypeError} if the filter has an unknown member, which would otherwise select every event, or one of the wrong
 *   kind
 * @throws {RangeError} if a kind or state is unknown
 */
export function checkEventFilter(filter: EventFilter): void {
  checkOptions('A filter of events', filter, filterMembers);
}

export function matchesFilter(filter: EventFilter, event: JobEvent): boolean {
  return (
    (filter.jobId === undefined || filter.jobId === event.jobId) &&
    hasAny(filter.kind, [event.kind]) &&
    hasAny(filter.state, [event.kind === 'state' ? event.state : null]) &&
    matchesJobFilter(filter, event)
  );
}

/** Returns whether the job of these members matches the part of a filter that is about jobs. */
export function matchesJobFilter(
  filter: FeedFilter,
  job: Pick<JobEvent, 'queue' | 'name' | 'tags' | 'batchId' | 'recurringJobId'>,
): boolean {
  return (
    hasAny(filter.queue, [job.queue]) &&
    hasAny(filter.name, [job.name]) &&
    hasAny(filter.tag, job.tags) &&
    hasAny(filter.batchId, [job.batchId]) &&
    hasAny(filter.recurringJobId, [job.recurringJobId])
  );
}

/** Returns the topics that cover every event matching the filter. */
export function topicsOf({ kind = [], state = [] }: EventFilter): readonly EventTopic[] {
  const states = state.length === 0 ? jobStates : state;
  if (kind.length === 0) return state.length === 0 ? eventTopics : states;
  return kind.flatMap((one): readonly EventTopic[] => {
    if (one === 'state') return states;
    return state.length === 0 ? [one] : [];
  });
}

function hasAny(wanted: readonly unknown[] | undefined, values: readonly unknown[]): boolean {
  return wanted === undefined || wanted.length === 0 || values.some((value) => wanted.includes(value));
}
