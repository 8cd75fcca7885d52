import type { JobEvent } from '@longshore/jobs';
import { bounds, jobStates, logLevels } from '@longshore/jobs/storage';
import type { ServerSentEvent } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { members, Name, nullable, Tag, Time } from './fields.js';

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
  recurringJobId: nullable(Name),
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
export function toServerSentEvent(event: JobEvent, resumeAt: Date): ServerSentEvent {
  return { event: event.kind, id: resumeAt.toISOString(), data: toItem(event) };
}

function toItem({ at, tags, ...event }: JobEvent): Static<typeof JobEventItem> {
  const values = new Map<string, unknown>(
    Object.entries({ ...event, at: at.toISOString(), tags: [...tags] }),
  );
  return Object.fromEntries(names.map((name) => [name, values.get(name) ?? null])) as Static<
    typeof JobEventItem
  >;
}
