import type { JobEvent } from '@longshore/jobs';
import { jobStates, logLevels } from '@longshore/jobs/storage';
import type { ServerSentEvent } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Name, nullable, Time } from './fields.js';

/** What happened to a job, as the API tells it. */
export const JobEventItem = Type.Object({
  kind: Type.Enum(['state', 'progress', 'log']),
  jobId: Type.String({ format: 'uuid' }),
  name: Name,
  queue: Name,
  attempt: Type.Integer({ minimum: 0, description: 'The current or latest attempt; 0 before the first' }),
  at: Time,
  tags: Type.Array(Type.String()),
  batchId: nullable(Type.String({ format: 'uuid' })),
  recurringJobId: nullable(Type.String()),
  state: Type.Optional(Type.Enum([...jobStates], { description: 'The state that the job came to' })),
  percent: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'How far the attempt is' })),
  message: Type.Optional(nullable(Type.String({ description: 'Of progress or log' }))),
  line: Type.Optional(Type.String({ description: 'The id of the line of the log' })),
  level: Type.Optional(Type.Enum([...logLevels])),
  fields: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))),
});

/** @param resumeAt from where a listener goes on that has had it */
export function toServerSentEvent(event: JobEvent, resumeAt: Date): ServerSentEvent {
  return { event: event.kind, id: resumeAt.toISOString(), data: toItem(event) };
}

function toItem({ at, tags, ...event }: JobEvent): Static<typeof JobEventItem> {
  return { ...event, at: at.toISOString(), tags: [...tags] };
}
