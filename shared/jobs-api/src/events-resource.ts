import type { EventFilter, EventStream, JobEvents, JobState } from '@longshore/jobs';
import { matchesFilter } from '@longshore/jobs/storage';
import {
  apiError,
  defineResource,
  type EventSource,
  type Filter,
  type Resource,
  type ServerSentEvent,
} from '@longshore/resources';
import { JobEventItem, toServerSentEvent } from './job-event-item.js';

const described = {
  name: 'events',
  key: 'jobId',
  item: JobEventItem,
  serverSet: ['kind', 'jobId', 'name', 'queue', 'attempt', 'at', 'tags', 'batchId', 'recurringJobId'],
} as const;

/** `/events`: what happens to all jobs. */
export function eventsResource(events: JobEvents): Resource {
  return defineResource({
    ...described,
    description: 'What happens to jobs, as it happens.',
    filters: {
      kind: 'exact',
      queue: 'exact',
      name: 'exact',
      state: { field: 'state', match: 'exact', description: 'Only states, and of those only these.' },
      tag: { field: 'tags', match: 'exact' },
      batchId: 'exact',
      recurringJobId: 'exact',
    },
    storage: {
      stream: async ({ filters, lastEventId }, _context, signal) =>
        toSource(events.listen(toEventFilter(filters), placeOf(lastEventId), signal)),
    },
  });
}

/** `/jobs/{id}/events`: what has happened to one job, and what happens to it until it ends. */
export function jobEventsResource(events: JobEvents): Resource {
  return defineResource({
    ...described,
    singular: 'job-event',
    description: 'What happens to one job, from its creation to its end.',
    storage: {
      stream: async ({ filters, lastEventId }, { parents }, signal) => {
        const id = parents.at(-1)?.id ?? '';
        const stream = await events.follow(id, placeOf(lastEventId), signal);
        if (stream === null) throw apiError(40402, `There is no job "${id.slice(0, 200)}" here`);
        return toSource(stream, toEventFilter(filters));
      },
    },
  });
}

/** @param filter what of the stream a caller may see: a job can come to a queue that is out of its reach */
function toSource(stream: EventStream, filter: EventFilter = {}): EventSource {
  return {
    isOver: stream.isOver,
    events: inServerSentEvents(stream, filter),
    position: () => stream.position()?.toISOString(),
  };
}

async function* inServerSentEvents(
  stream: EventStream,
  filter: EventFilter,
): AsyncGenerator<ServerSentEvent> {
  for await (const { event, resumeAt } of stream)
    if (matchesFilter(filter, event)) yield toServerSentEvent(event, resumeAt);
}

/** @throws {ApiError} 40003 if it is no id that a stream has sent */
function placeOf(lastEventId: string | undefined): Date | null {
  if (lastEventId === undefined) return null;
  const time = /^\d{4}-\d{2}-\d{2}T[\d:.]{5,12}Z$/.test(lastEventId) ? Date.parse(lastEventId) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time);
  throw apiError(40003, `Last-Event-ID "${lastEventId.slice(0, 100)}" is no id of an event`);
}

function toEventFilter(filters: readonly Filter[]): EventFilter {
  return Object.fromEntries(
    filters.map(({ parameter, values }) => [parameter, values.map((value) => value as JobState)]), // checked by the schema
  );
}
