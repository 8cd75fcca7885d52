import { shorten } from '@longshore/edge';
import type { EventFilter, EventStream, FeedPosition, JobEvents, JobState } from '@longshore/jobs';
import { matchesFilter } from '@longshore/jobs/storage';
import {
  apiError,
  defineResource,
  type EventSource,
  type Filter,
  type Resource,
  type ServerSentEvent,
} from '@longshore/resources';
import { eventId, eventIdPattern, JobEventItem, readEventId, toServerSentEvent } from './job-event-item.js';

const described = {
  name: 'events',
  key: 'jobId',
  item: JobEventItem,
  serverSet: Object.keys(JobEventItem.properties) as (keyof typeof JobEventItem.properties)[],
  sort: [],
  search: [],
  eventIds: eventIdPattern,
  notAllowed: {
    create: 'Events are sent when something happens to a job.',
    replaceMany: 'Events do not change.',
    deleteMany: 'Events are derived from their job, and deleted together with it.',
  },
} as const;

/** `/events`: the events of all jobs. */
export function eventsResource(events: JobEvents): Resource {
  return defineResource({
    ...described,
    description: 'Events of jobs, as they happen: state changes, progress and log lines.',
    filters: {
      kind: { field: 'kind', match: 'exact', description: 'Only events of these kinds.' },
      queue: { field: 'queue', match: 'exact', description: 'Only events of jobs in these queues.' },
      name: { field: 'name', match: 'exact', description: 'Only events of jobs with these names.' },
      state: { field: 'state', match: 'exact', description: 'Only state changes, and only to these states.' },
      tag: { field: 'tags', match: 'exact', description: 'Only events of jobs with one of these tags.' },
      batchId: { field: 'batchId', match: 'exact', description: 'Only events of jobs of these batches.' },
      recurringJobId: {
        field: 'recurringJobId',
        match: 'exact',
        description: 'Only events of jobs that these recurring jobs enqueued.',
      },
    },
    storage: {
      stream: async ({ filters, lastEventId }, _context, signal) =>
        toSource(events.listen(toEventFilter(filters), placeOf(lastEventId), signal)),
    },
  });
}

/** `/jobs/{id}/events`: the events of one job, past and future, until the job ends. */
export function jobEventsResource(events: JobEvents): Resource {
  return defineResource({
    ...described,
    singular: 'job-event',
    description: 'The events of one job, from its creation to its end.',
    storage: {
      stream: async ({ filters, lastEventId }, { parents }, signal) => {
        const id = parents.at(-1)?.id ?? '';
        const stream = await events.follow(id, placeOf(lastEventId), signal);
        if (stream === null) throw apiError(40402, `There is no job "${shorten(id, 200)}" here`);
        return toSource(stream, toEventFilter(filters));
      },
    },
  });
}

/**
 * Converts a stream of job events to server-sent events.
 *
 * @param filter selects the events to send. The stream of a single job is filtered too, because the job can move to a
 *   queue that the caller may not see
 */
function toSource(stream: EventStream, filter: EventFilter = {}): EventSource {
  return {
    isOver: stream.isOver,
    events: inServerSentEvents(stream, filter),
    position: () => {
      const position = stream.position();
      return position === null ? undefined : eventId(position);
    },
  };
}

async function* inServerSentEvents(
  stream: EventStream,
  filter: EventFilter,
): AsyncGenerator<ServerSentEvent> {
  for await (const { event, resumeAt } of stream)
    if (matchesFilter(filter, event)) yield toServerSentEvent(event, resumeAt);
}

/**
 * Parses the `Last-Event-ID` header; `null` if it is absent.
 * @throws {ApiError} 40003 if the value is not an event id
 */
function placeOf(lastEventId: string | undefined): FeedPosition | null {
  if (lastEventId === undefined) return null;
  const position = readEventId(lastEventId);
  if (position !== null) return position;
  throw apiError(40003, `Last-Event-ID "${shorten(lastEventId, 100)}" is not the id of an event`);
}

function toEventFilter(filters: readonly Filter[]): EventFilter {
  return Object.fromEntries(
    // The cast is safe, because the values have been checked against the schemas of the filtered fields.
    filters.map(({ parameter, values }) => [parameter, values.map((value) => value as JobState)]),
  );
}
