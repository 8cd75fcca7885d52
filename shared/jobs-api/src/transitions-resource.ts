import type { JobStorage } from '@longshore/jobs';
import { jobStates, type Transition, type TransitionReason } from '@longshore/jobs/storage';
import { defineResource, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { JobErrorItem } from './job-item.js';

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
  number: Type.Integer({ minimum: 1, description: 'Its place in the life of the job' }),
  state: Type.Enum([...jobStates], { description: 'The state that the job came to' }),
  reason: Type.Enum(Object.keys(reasons) as TransitionReason[]),
  at: Type.String({ format: 'date-time' }),
  attempt: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description: 'The attempt that began or ended with it',
  }),
  serverId: Type.Union([Type.String({ format: 'uuid' }), Type.Null()]),
  runAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'Until when a scheduled job is to wait',
  }),
  error: Type.Union([JobErrorItem, Type.Null()]),
});

/** `/jobs/{id}/transitions`: every state that a job has been in, the oldest first. */
export function transitionsResource(storage: Pick<JobStorage, 'jobs' | 'reports'>): Resource {
  return defineResource({
    name: 'transitions',
    description: 'Every state that one job has been in, with time and reason.',
    key: 'number',
    item: TransitionItem,
    serverSet: ['number', 'state', 'reason', 'at', 'attempt', 'serverId', 'runAt', 'error'],
    sort: [],
    search: [],
    storage: {
      list: async ({ sort, limit, offset }, { parents }) => {
        const transitions = await storage.reports.listTransitions(parents.at(-1)?.id ?? '');
        const items = transitions.map(toItem);
        if (sort[0]?.direction === 'desc') items.reverse();
        return { items: items.slice(offset, offset + limit), total: items.length };
      },
    },
  });
}

function toItem(transition: Transition, index: number): Static<typeof TransitionItem> {
  const { at, runAt, ...rest } = transition;
  return { number: index + 1, ...rest, at: at.toISOString(), runAt: runAt?.toISOString() ?? null };
}
