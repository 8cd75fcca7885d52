import { maxSetAside, type SetAside, type SetAsideItem, setAsideRoles } from '@longshore/jobs/storage';
import { type Check, defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { nullable, Time, toTime } from './fields.js';

const Item = Type.Object({
  id: Type.String({ pattern: '^[0-9]{1,18}$', examples: ['17'] }),
  role: Type.Enum([...setAsideRoles], { description: 'The background work that failed' }),
  key: Type.String({
    description:
      'What it is to its role: the id of a job or a recurring job, the number of a move, the name of a chore',
  }),
  queue: nullable(Type.String({ description: 'The queue of the job that it is about' })),
  jobId: nullable(Type.String({ format: 'uuid' })),
  error: Type.Object(
    { name: Type.String(), message: Type.String(), stack: nullable(Type.String()) },
    { description: 'Why, as of the last attempt' },
  ),
  failures: Type.Integer({ minimum: 1, description: 'How often it was tried' }),
  createdAt: Time,
  failedAt: Time,
  retryAt: nullable(
    Type.String({ format: 'date-time', description: 'When it is tried again; null: only by `retry`' }),
  ),
});

/** `/set-aside-items`: what background work could not deal with, because of its own data. */
export function setAsideItemsResource(setAside: SetAside): Resource {
  return defineResource({
    name: 'set-aside-items',
    description: 'What background work set aside because it failed by its own data.',
    item: Item,
    serverSet: Object.keys(Item.properties) as (keyof typeof Item.properties)[],
    filters: { role: 'exact', queue: 'exact', jobId: 'exact' },
    sort: ['createdAt', 'failedAt'],
    defaultSort: ['-createdAt'],
    operations: {
      retry: {
        summary:
          'Have it tried again now by the next server; of a bulk operation, by an operation on this job alone',
      },
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
      delete: (id, check) => setAside.discard(id, { check: checkOf(check) }),
      operations: {
        retry: async (id, _body, { transaction }, check) => {
          const item = await setAside.find(id, transaction);
          const found = await setAside.retry(id, { check: checkOf(check), transaction });
          if (item === null || !found) return undefined;
          // What a bulk operation passed over is gone from the list now.
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
