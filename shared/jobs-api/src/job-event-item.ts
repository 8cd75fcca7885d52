import { type JobEvent, jobStates } from '@longshore/jobs';
import type { ServerSentEvent } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Name, nullable, Time } from './fields.js';

/** What happened to a job, as the API tells it. */
export const JobEventItem = Type.Object({
  jobId: Type.String({ format: 'uuid' }),
  name: Name,
  queue: Name,
  state: Type.Enum([...jobStates], { description: 'The state that the job came to' }),
  attempt: Type.Integer({ minimum: 0, description: 'The current or latest attempt; 0 before the first' }),
  at: Time,
  tags: Type.Array(Type.String()),
  batchId: nullable(Type.String({ format: 'uuid' })),
  recurringJobId: nullable(Type.String()),
});

/** @param resumeAt from where a listener goes on that has had it */
export function toServerSentEvent({ kind, ...event }: JobEvent, resumeAt: Date): ServerSentEvent {
  return { event: kind, id: resumeAt.toISOString(), data: toItem(event) };
}

function toItem({ at, tags, ...event }: Omit<JobEvent, 'kind'>): Static<typeof JobEventItem> {
  return { ...event, at: at.toISOString(), tags: [...tags] };
}
