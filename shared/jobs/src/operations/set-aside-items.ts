import type { SetAsideItem } from '../storage/set-aside.js';
import { type Call, noFields, operation, type OperableStorage } from './operation.js';
import type { Facts } from './operation-description.js';

/** The operations on a set-aside item. */
export const setAsideOperations = {
  retry: operation<typeof noFields, SetAsideItem, SetAsideItem | null>({
    on: 'set-aside',
    name: 'retry',
    summary: 'Retry a set-aside item now',
    note: 'Background roles try again within seconds, and set the item aside again if they fail.',
    done: 'retried',
    message: 'The next server that does this kind of work will retry the item.',
    role: 'operator',
    fields: noFields,
    change: ({ setAside }, { target }, options) => setAside.retry(target, options),
    facts: factsOf,
    // Retrying an item of a bulk operation deletes the item. The subject is then the item as it was before.
    after: async (
      { setAside }: OperableStorage,
      { target, transaction }: ItemCall,
      item: SetAsideItem | null,
    ) => item && ((await setAside.find(target, transaction)) ?? item),
  }),
  discard: operation<typeof noFields, SetAsideItem, SetAsideItem | null>({
    on: 'set-aside',
    name: 'discard',
    summary: 'Discard a set-aside item',
    note: 'Its work is given up; the job concerned, if any, is not changed.',
    done: 'discarded',
    message: 'The item is discarded and will not be retried.',
    role: 'operator',
    isReasoned: true,
    fields: noFields,
    change: ({ setAside }, { target }, options) => setAside.discard(target, options),
    facts: factsOf,
    after: (_storage, _call, item: SetAsideItem | null) => item,
  }),
};

type ItemCall = Call<string, unknown, SetAsideItem>;

/** The entry names the item's job, if it has one, so that the job's history includes the operation. */
function factsOf(item: SetAsideItem | null): Facts {
  if (item === null) return { outcome: 'unknown' };
  return { outcome: 'done', target: item.jobId ?? `${item.role} ${item.key}` };
}
