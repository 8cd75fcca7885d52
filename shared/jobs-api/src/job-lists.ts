import type { JobStorage } from '@longshore/jobs';
import type { JobFilter } from '@longshore/jobs/storage';
import { type CollectionQuery, maxPageBytes, type Page } from '@longshore/resources';
import type { Static } from 'typebox';
import { includesDocuments, toJobFilter } from './job-filters.js';
import { type JobItem, toJobItem } from './job-item.js';
import { seekPage } from './seek.js';

type Item = Static<typeof JobItem>;

/** Reads a page of jobs, sorted by creation time or, for a search without `sort`, by relevance. */
export async function jobPage(
  storage: Pick<JobStorage, 'jobs'>,
  query: CollectionQuery,
  signal: AbortSignal,
): Promise<Page<Item>> {
  const filter = toJobFilter(query);
  if (filter === null) return { items: [], total: 0 };
  const read = query.search === undefined ? listed : found;
  return read(storage, query, filter, signal);
}

async function listed(
  storage: Pick<JobStorage, 'jobs'>,
  query: CollectionQuery,
  filter: JobFilter,
  signal: AbortSignal,
): Promise<Page<Item>> {
  const documents = includesDocuments(query);
  const [page, counted] = await Promise.all([
    seekPage(query, async (part) => {
      const wanted = { filter, ...part, documents, maxBytes: maxPageBytes, signal };
      const { jobs, cut } = await storage.jobs.listPage(wanted);
      return { rows: jobs, cut };
    }),
    query.count === 'none' ? undefined : storage.jobs.count(filter, signal),
  ]);
  const items = page.items.map(toJobItem);
  return { ...page, items, total: counted?.count, estimated: counted?.exact === false };
}

/** Reads a page of search results. If the search stopped early, the total is a lower bound. */
async function found(
  storage: Pick<JobStorage, 'jobs'>,
  query: CollectionQuery,
  filter: JobFilter,
  signal: AbortSignal,
): Promise<Page<Item>> {
  let matches = { total: 0, partial: false };
  const page = await seekPage(query, async ({ order, ...part }) => {
    const documents = includesDocuments(query);
    const wanted = { ...part, filter, documents, maxBytes: maxPageBytes, signal };
    const result = await storage.jobs.search({ ...wanted, order: query.byRelevance ? 'best' : order });
    matches = result;
    return { rows: result.jobs, cut: result.cut };
  });
  const { total, partial } = matches;
  const counted = query.count === 'none' ? { total: undefined } : { total, estimated: partial };
  return { ...page, items: page.items.map(toJobItem), ...counted, partial };
}
