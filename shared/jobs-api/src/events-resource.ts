import { parseTime, shorten } from '@longshore/edge';
import type { EventFilter, EventStream, FeedPosition, JobEvent, JobEvents, JobState } from '@longshore/jobs';
import {
  beforeAllIds,
  bounds,
  isId,
  jobStates,
  logLevels,
  matchesFilter,
  positionAt,
} from '@longshore/jobs/storage';
import {
  apiError,
  defineResource,
  type EventSource,
  type Filter,
  type Resource,
  type ServerSentEvent,
} from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { members, Name, nullable, RecurringJobId, Tag, Time } from './fields.js';

const timePattern = String.raw`\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})`;

/** The regular expression of event ids, for the reference. */
const eventIdPattern = `^${timePattern}(/[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/${timePattern})?$`;

/** A job event in the API. Fields that do not apply to the event's kind are null. */
const JobEventItem = Type.Object({
  kind: Type.Enum(['state', 'progress', 'log']),
  jobId: Type.String({ format: 'uuid' }),
  name: Name,
  queue: Name,
  attempt: Type.Integer({ minimum: 0, description: 'The current or latest attempt; 0 before the first' }),
  at: Time,
  tags: Type.Array(Tag, { maxItems: bounds.tags.max }),
  batchId: nullable(Type.String({ format: 'uuid' })),
  recurringJobId: nullable(RecurringJobId),
  state: nullable(Type.Enum([...jobStates], { description: 'The new state; only of kind `state`' })),
  percent: nullable(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Progress of the attempt; only of kind `progress`',
    }),
  ),
  message: nullable(Type.String({ description: 'The message of the progress or the log line' })),
  line: nullable(Type.String({ description: 'The ID of the log line; only of kind `log`' })),
  level: nullable(
    Type.Enum([...logLevels], { description: 'The level of the log line; only of kind `log`' }),
  ),
  fields: nullable(members('LogData', 'Structured data logged with the message; only of kind `log`')),
});

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

const names = Object.keys(JobEventItem.properties);

/**
 * Converts a job event to a server-sent event.
 *
 * @param resumeAt sent as the event id; a client that reconnects with this id continues after the event
 */
function toServerSentEvent(event: JobEvent, resumeAt: FeedPosition): ServerSentEvent {
  return { event: event.kind, id: eventId(resumeAt), data: toItem(event) };
}

function toItem({ at, tags, ...event }: JobEvent): Static<typeof JobEventItem> {
  const values = new Map<string, unknown>(
    Object.entries({ ...event, at: at.toISOString(), tags: [...tags] }),
  );
  return Object.fromEntries(names.map((name) => [name, values.get(name) ?? null])) as Static<
    typeof JobEventItem
  >;
}

/**
 * Formats a position as an event id: its time, followed by the job and the start of the replay if the position is within
 * one, for example `2026-11-21T08:00:00.120Z` or `2026-11-21T08:00:00.120Z/019a9f6e-…/2026-11-21T07:00:00.000Z`.
 */
function eventId({ at, id, since }: FeedPosition): string {
  const time = at.toISOString();
  const isTime = id === beforeAllIds && since.getTime() === at.getTime();
  return isTime ? time : `${time}/${id}/${since.toISOString()}`;
}

/** Parses an event id; `null` if the text is not one. */
function readEventId(text: string): FeedPosition | null {
  const [at = '', id, since, ...excess] = text.split('/');
  const time = parseTime(at);
  if (time === undefined || excess.length > 0) return null;
  if (id === undefined) return positionAt(time);
  const begin = parseTime(since ?? '');
  return begin === undefined || !isId(id) ? null : { at: time, id: id.toLowerCase(), since: begin };
}
