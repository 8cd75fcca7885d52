import type { JobStorage } from '@longshore/jobs';
import { type OperableStorage, setAsideOperations } from '@longshore/jobs/operations';
import { maxSetAside, type SetAsideItem, setAsideRoles } from '@longshore/jobs/storage';
import { defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Name, nullable, Time, toTime } from './fields.js';
import { JobErrorItem } from './job-item.js';
import { checkOf, perform, served } from './operations.js';

const Item = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 18, pattern: '^[0-9]{1,18}$', examples: ['17'] }),
  role: Type.Enum([...setAsideRoles], { description: 'The background role that failed' }),
  key: Type.String({
    description:
      'Identifies the item within its role: the ID of a job or a recurring job, the number of an outbox entry, the name of a chore',
  }),
  queue: nullable(Type.String({ ...Name, description: 'The queue of the job concerned' })),
  jobId: nullable(Type.String({ format: 'uuid', description: 'The job concerned' })),
  error: Type.Object(JobErrorItem.properties, { description: 'The latest error' }),
  failures: Type.Integer({ minimum: 1, description: 'How many times it has failed' }),
  createdAt: Time,
  failedAt: Time,
  retryAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'When it is retried automatically; null if only `retry` retries it',
    }),
  ),
});

const recorded = 'An item records a failure; use PUT /set-aside-items/{id}/retry once the cause is fixed.';

/** `/set-aside-items`: items excluded from background processing because their own data makes it fail. */
export function setAsideItemsResource(
  storage: OperableStorage & Pick<JobStorage, 'setAside'>,
  requiresReason: boolean,
): Resource {
  const { setAside } = storage;
  const { declarations, functions } = served([setAsideOperations.retry], { storage, requiresReason, toItem });
  return defineResource({
    name: 'set-aside-items',
    noun: 'set-aside item',
    description: 'Items excluded from background processing because their own data makes it fail.',
    item: Item,
    deletionReason: requiresReason ? 'required' : 'optional',
    serverSet: Object.keys(Item.properties) as (keyof typeof Item.properties)[],
    filters: {
      role: { field: 'role', match: 'exact', description: 'Items of these background roles.' },
      queue: { field: 'queue', match: 'exact', description: 'Items that concern jobs of these queues.' },
      jobId: { field: 'jobId', match: 'exact', description: 'Items that concern these jobs.' },
    },
    defaultSort: ['-createdAt'],
    calls: { delete: { note: setAsideOperations.discard.note } },
    operations: declarations,
    notAllowed: {
      create: 'Background roles set an item aside when they fail to process it.',
      replaceMany: recorded,
      deleteMany: 'Discarding an item gives up its work; use DELETE /set-aside-items/{id} for each.',
      replace: recorded,
      patch: recorded,
    },
    storage: {
      seeks: true,
      list: async (query) => {
        const items = await setAside.list({ limit: maxSetAside * setAsideRoles.length });
        return pageOf(items.map(toItem), query);
      },
      get: async (id) => {
        const item = await setAside.find(id);
        return item === null ? undefined : toItem(item);
      },
      delete: async (target, check, context) => {
        const { reason } = context;
        const call = { target, fields: {}, reason, check: checkOf(check, toItem) };
        return (await perform(setAsideOperations.discard, storage, context, call)).subject !== null;
      },
      operations: functions,
    },
  });
}

function toItem(item: SetAsideItem): Static<typeof Item> {
  return {
    ...item,
    createdAt: item.createdAt.toISOString(),
    failedAt: item.failedAt.toISOString(),
    retryAt: toTime(item.retryAt),
  };
}
