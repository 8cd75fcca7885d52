import { maxSetAside, type SetAside, type SetAsideItem, setAsideRoles } from '@longshore/jobs/storage';
import { type Check, defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { nullable, Time, toTime } from './fields.js';

const Item = Type.Object({
  id: Type.String({ pattern: '^[0-9]{1,18}$', examples: ['17'] }),
  role: Type.Enum([...setAsideRoles], { description: 'The background role that failed' }),
  key: Type.String({
    description:
      'Identifies the item within its role: the id of a job or a recurring job, the number of an outbox entry, the name of a chore',
  }),
  queue: nullable(Type.String({ description: 'The queue of the job concerned' })),
  jobId: nullable(Type.String({ format: 'uuid', description: 'The job concerned' })),
  error: Type.Object(
    { name: Type.String(), message: Type.String(), stack: nullable(Type.String()) },
    { description: 'The error of the last try' },
  ),
  failures: Type.Integer({ minimum: 1, description: 'How often it has failed' }),
  createdAt: Time,
  failedAt: Time,
  retryAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'When it is retried automatically; null if only by `retry`',
    }),
  ),
});

const recorded = 'An item records a failure; use PUT /set-aside-items/{id}/retry once the cause is fixed.';

/** `/set-aside-items`: items excluded from background processing because their own data makes it fail. */
export function setAsideItemsResource(setAside: SetAside): Resource {
  return defineResource({
    name: 'set-aside-items',
    noun: 'set-aside item',
    description: 'Items excluded from background processing because their own data makes it fail.',
    item: Item,
    serverSet: Object.keys(Item.properties) as (keyof typeof Item.properties)[],
    filters: {
      role: { field: 'role', match: 'exact', description: 'Items of these background roles.' },
      queue: { field: 'queue', match: 'exact', description: 'Items that concern jobs of these queues.' },
      jobId: { field: 'jobId', match: 'exact', description: 'Items that concern these jobs.' },
    },
    defaultSort: ['-createdAt'],
    operations: { retry: { summary: 'Retry a set-aside item now' } },
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
      delete: async (id, check) => (await setAside.discard(id, { check: checkOf(check) })) !== null,
      operations: {
        retry: async (id, _body, { transaction }, check) => {
          const item = await setAside.retry(id, { check: checkOf(check), transaction });
          if (item === null) return undefined;
          // A set-aside item that belongs to a bulk operation is deleted when it is retried, so it cannot be read again.
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
