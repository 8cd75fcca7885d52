import { maxSetAside, type SetAside, type SetAsideItem, setAsideRoles } from '@longshore/jobs/storage';
import { type Check, defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Name, nullable, Time, toTime } from './fields.js';
import { JobErrorItem } from './job-item.js';
import { audited, ReasonBody } from './reasons.js';

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
export function setAsideItemsResource(setAside: SetAside, requiresReason: boolean): Resource {
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
    calls: { delete: { note: 'Its work is given up; the job concerned, if any, is not changed.' } },
    operations: {
      retry: {
        summary: 'Retry a set-aside item now',
        note: 'Background roles try again within seconds, and set the item aside again if they fail.',
        body: ReasonBody,
      },
    },
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
      delete: async (id, check, context) => {
        const action = { action: 'set-aside/discard', target: id, reason: context.reason };
        const audit = audited(context, action, (item: SetAsideItem | null) => item !== null);
        return (await setAside.discard(id, { check: checkOf(check), audit })) !== null;
      },
      operations: {
        retry: async (id, { reason }, context, check) => {
          const { transaction } = context;
          const item = await setAside.retry(id, {
            check: checkOf(check),
            transaction,
            audit: audited(
              context,
              { action: 'set-aside/retry', target: id, reason },
              (found) => found !== null,
            ),
          });
          if (item === null) return undefined;
          // Retrying an item of a bulk operation deletes the item. The response then shows the item as it was before.
          return toItem((await setAside.find(id, transaction)) ?? item);
        },
      },
    },
  });
}

function checkOf(check: Check<Static<typeof Item>> | undefined): ((item: SetAsideItem) => void) | undefined {
  return check && ((item) => check(toItem(item)));
}

function toItem(item: SetAsideItem): Static<typeof Item> {
  return {
    ...item,
    createdAt: item.createdAt.toISOString(),
    failedAt: item.failedAt.toISOString(),
    retryAt: toTime(item.retryAt),
  };
}
