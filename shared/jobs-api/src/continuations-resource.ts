import type { JobStorage } from '@longshore/jobs';
import {
  type CollectionQuery,
  defineResource,
  maxPageBytes,
  pageOf,
  type Resource,
} from '@longshore/resources';
import type { Static } from 'typebox';
import { includesDocuments } from './job-filters.js';
import { JobItem, toJobItem } from './job-item.js';

type Item = Static<typeof JobItem>;

/** Maximum number of dependents to list and count. */
const maxRead = 10_000;

/** `/jobs/{id}/continuations`: the jobs that depend or depended on a job, oldest first. */
export function continuationsResource(storage: Pick<JobStorage, 'jobs'>): Resource {
  return defineResource({
    name: 'continuations',
    description: 'The jobs that depend, or depended, on a job.',
    item: JobItem,
    serverSet: Object.keys(JobItem.properties) as (keyof typeof JobItem.properties)[],
    notAllowed: {
      create: 'A job names its parents when it is created: send `after` with POST /jobs.',
      replaceMany: 'Use PUT /jobs, which changes jobs by their ids.',
      deleteMany: 'Use DELETE /jobs?parentId={id}.',
    },
    storage: {
      seeks: true,
      list: async (query, { parents }) => {
        const parent = parents.at(-1)?.id ?? '';
        const jobs = await storage.jobs.listContinuations(parent, { limit: maxRead, documents: false });
        const page = pageOf(jobs.map(toJobItem), query);
        const isPartial = query.search !== undefined && jobs.length === maxRead;
        const listed = isPartial ? { ...page, estimated: true, partial: true } : page;
        if (page.items.length === 0 || !includesDocuments(query)) return listed;
        const { items, cut } = await loadFullItems(storage, page.items, query);
        return { ...listed, items, cut, more: cut || page.more === true };
      },
    },
  });
}

/**
 * Loads the arguments and results of a page's items. Leaves out items beyond the size limit: the last ones when paging
 * forward, the first ones when paging backward.
 */
async function loadFullItems(
  storage: Pick<JobStorage, 'jobs'>,
  items: readonly Item[],
  { seek }: CollectionQuery,
): Promise<{ items: Item[]; cut: boolean }> {
  const backwards = seek?.direction === 'before';
  const ids = items.map(({ id }) => id);
  if (backwards) ids.reverse();
  const found = await findItems(storage, ids);
  const missing = ids.findIndex((id) => !found.items.has(id));
  const isCut = found.cut && missing >= 0;
  // Keeps at least one job on the page, so that paging always advances.
  const end = isCut ? Math.max(1, missing) : ids.length;
  const whole = isCut && missing === 0 ? (await findItems(storage, ids.slice(0, 1))).items : found.items;
  const page = ids.slice(0, end).flatMap((id) => whole.get(id) ?? []);
  return { items: backwards ? page.toReversed() : page, cut: isCut };
}

async function findItems(
  storage: Pick<JobStorage, 'jobs'>,
  ids: readonly string[],
): Promise<{ items: ReadonlyMap<string, Item>; cut: boolean }> {
  const order = (ids[0] ?? '') <= (ids.at(-1) ?? '') ? 'oldest' : 'newest';
  const page = { filter: { id: ids }, order, limit: ids.length, maxBytes: maxPageBytes } as const;
  const { jobs, cut } = await storage.jobs.listPage(page);
  return { items: new Map(jobs.map((job) => [job.id, toJobItem(job)])), cut };
}
