import { parseTime } from '@longshore/edge';
import type { FeedPosition, JobEvent } from '@longshore/jobs';
import { beforeAllIds, bounds, isId, jobStates, logLevels, positionAt } from '@longshore/jobs/storage';
import type { ServerSentEvent } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { members, Name, nullable, RecurringJobId, Tag, Time } from './fields.js';

/** A job event in the API. Fields that do not apply to the event's kind are null. */
export const JobEventItem = Type.Object({
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

const names = Object.keys(JobEventItem.properties);

/**
 * Converts a job event to a server-sent event.
 *
 * @param resumeAt sent as the event id; a client that reconnects with this id continues after the event
 */
export function toServerSentEvent(event: JobEvent, resumeAt: FeedPosition): ServerSentEvent {
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
export function eventId({ at, id, since }: FeedPosition): string {
  const time = at.toISOString();
  const isTime = id === beforeAllIds && since.getTime() === at.getTime();
  return isTime ? time : `${time}/${id}/${since.toISOString()}`;
}

const timePattern = String.raw`\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})`;

/** The regular expression of event ids, for the reference. */
export const eventIdPattern = `^${timePattern}(/[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/${timePattern})?$`;

/** Parses an event id; `null` if the text is not one. */
export function readEventId(text: string): FeedPosition | null {
  const [at = '', id, since, ...others] = text.split('/');
  const time = parseTime(at);
  if (time === undefined || others.length > 0) return null;
  if (id === undefined) return positionAt(time);
  const begin = parseTime(since ?? '');
  return begin === undefined || !isId(id) ? null : { at: time, id: id.toLowerCase(), since: begin };
}
