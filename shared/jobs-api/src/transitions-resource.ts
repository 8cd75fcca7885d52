import type { JobStorage } from '@longshore/jobs';
import {
  jobStates,
  maxListedTransitions,
  type Transition,
  type TransitionReason,
} from '@longshore/jobs/storage';
import { defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { nullable } from './fields.js';
import { JobErrorItem } from './job-item.js';
import { writtenByServers } from './not-allowed.js';

const reasons: Record<TransitionReason, true> = {
  created: true,
  due: true,
  'parents-ended': true,
  claimed: true,
  done: true,
  failed: true,
  cancelled: true,
  lost: true,
  released: true,
  snoozed: true,
  retried: true,
  run: true,
  rescheduled: true,
};

const TransitionItem = Type.Object({
  number: Type.Integer({
    minimum: 1,
    description: 'Rises with each transition of the job, starting at 1 and possibly with gaps',
  }),
  state: Type.Enum([...jobStates], { description: 'The new state of the job' }),
  reason: Type.Enum(Object.keys(reasons) as TransitionReason[], { description: 'Why the state changed' }),
  at: Type.String({ format: 'date-time', description: 'When the state changed' }),
  attempt: nullable(
    Type.Integer({ minimum: 1, description: 'The attempt that started or ended; null if none did' }),
  ),
  serverId: nullable(Type.String({ format: 'uuid', description: 'The server that ran the attempt' })),
  runAt: nullable(
    Type.String({ format: 'date-time', description: 'When the job is due, if it is now scheduled' }),
  ),
  error: nullable(
    Type.Object(JobErrorItem.properties, {
      description: 'The error of the attempt that ended; null if there is none',
    }),
  ),
});

/** `/jobs/{id}/transitions`: the creation of a job and its newest state changes, oldest first. */
export function transitionsResource(storage: Pick<JobStorage, 'jobs' | 'reports'>): Resource {
  return defineResource({
    name: 'transitions',
    description: `The state transitions of a job, each with its time and reason: its creation and the newest ${maxListedTransitions - 1} others.`,
    key: 'number',
    item: TransitionItem,
    serverSet: ['number', 'state', 'reason', 'at', 'attempt', 'serverId', 'runAt', 'error'],
    notAllowed: writtenByServers,
    storage: {
      seeks: true,
      list: async (query, { parents }) => {
        const transitions = await storage.reports.listTransitions(parents.at(-1)?.id ?? '');
        return pageOf(transitions.map(toItem), query);
      },
    },
  });
}

function toItem({ at, runAt, ...rest }: Transition): Static<typeof TransitionItem> {
  return { ...rest, at: at.toISOString(), runAt: runAt?.toISOString() ?? null };
}
