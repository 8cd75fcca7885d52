import type { JobStorage } from '@longshore/jobs';
import {
  type CollectionQuery,
  defineResource,
  mostPageBytes,
  pageOf,
  type Resource,
} from '@longshore/resources';
import type { Static } from 'typebox';
import { asksForDocuments } from './job-filters.js';
import { JobItem, toJobItem } from './job-item.js';

/** So many are read to find those of a page and their number; a job with more is beyond what people page through. */
const mostRead = 10_000;

/** `/jobs/{id}/continuations`: the jobs that wait or waited for this one, the oldest first. */
export function continuationsResource(storage: Pick<JobStorage, 'jobs'>): Resource {
  return defineResource({
    name: 'continuations',
    description: 'The jobs that wait or waited for one job.',
    item: JobItem,
    serverSet: Object.keys(JobItem.properties) as (keyof typeof JobItem.properties)[],
    storage: {
      seeks: true,
      list: async (query, { parents }) => {
        const parent = parents.at(-1)?.id ?? '';
        const jobs = await storage.jobs.listContinuations(parent, { limit: mostRead, documents: false });
        const page = pageOf(jobs.map(toJobItem), query);
        if (page.items.length === 0 || !asksForDocuments(query)) return page;
        const { items, cut } = await wholeItems(storage, page.items, query);
        return { ...page, items, cut, more: cut || page.more === true };
      },
    },
  });
}

/** The items of a page with what the jobs were given and returned, as many as fit: those next to where the page begins. */
async function wholeItems(
  storage: Pick<JobStorage, 'jobs'>,
  items: readonly Static<typeof JobItem>[],
  { seek }: CollectionQuery,
): Promise<{ items: Static<typeof JobItem>[]; cut: boolean }> {
  const ids = items.map(({ id }) => id);
  const backwards = seek?.direction === 'before';
  const ascending = (ids[0] ?? '') <= (ids.at(-1) ?? '');
  const { jobs, cut } = await storage.jobs.listPage({
    filter: { id: ids },
    order: ascending === backwards ? 'newest' : 'oldest',
    limit: ids.length,
    maxBytes: mostPageBytes,
  });
  const found = jobs.map(toJobItem);
  return { items: backwards ? found.toReversed() : found, cut };
}
