import type { JobStorage } from '@longshore/jobs';
import {
  comparePlaces,
  type JobFilter,
  type JobOrder,
  type JobOrderMember,
  type JobPage,
  type JobPageQuery,
  type JobPlace,
  placeOf,
  type SortedJobsPage,
  type SortedJobsQuery,
} from '@longshore/jobs/storage';
import { type CollectionQuery, maxPageBytes, type NotAllowed, type Page } from '@longshore/resources';
import type { Static } from 'typebox';
import { includesDocuments, toJobFilter } from './job-filters.js';
import { type JobItem, toJobItem } from './job-item.js';
import { maxCompared, seekPage } from './seek.js';

type Item = Static<typeof JobItem>;

/** Reads a page of jobs, sorted by creation time or as `sort` says or, for a search without `sort`, by relevance. */
export async function jobPage(
  storage: Pick<JobStorage, 'jobs'>,
  query: CollectionQuery,
  signal: AbortSignal,
): Promise<Page<Item>> {
  const filter = toJobFilter(query);
  if (filter === null) return { items: [], total: 0 };
  if (!query.byRelevance && orderOf(query)[0]?.by !== 'id') return sorted(storage, query, filter, signal);
  const read = query.search === undefined ? listed : searchResults;
  return read(storage, query, filter, signal);
}

const members: Readonly<Record<string, JobOrderMember>> = {
  createdAt: 'id',
  id: 'id',
  finishedAt: 'finishedAt',
  startedAt: 'startedAt',
  runAt: 'runAt',
  priority: 'priority',
  'concurrency.key': 'concurrencyKey',
};

/** The fields that lists of jobs can be sorted by. */
export const sortedFields = [
  'createdAt',
  'finishedAt',
  'startedAt',
  'runAt',
  'priority',
  'concurrency.key',
] as const satisfies readonly (keyof typeof members)[];

function orderOf({ sort }: Pick<CollectionQuery, 'sort'>): JobOrder {
  const order = sort.map(({ field, direction }) => ({
    by: members[field] ?? ('id' as const),
    descending: direction === 'desc',
  }));
  return order.slice(0, order.findIndex(({ by }) => by === 'id') + 1);
}

/** Reads a page in an order other than that of creation. If only some jobs are compared, the page is partial. */
async function sorted(
  storage: Pick<JobStorage, 'jobs'>,
  query: CollectionQuery,
  filter: JobFilter,
  signal: AbortSignal,
): Promise<Page<Item>> {
  const { limit, offset, seek } = query;
  const order = orderOf(query);
  const reversed = seek?.direction === 'before';
  const after = seek === undefined || seek.values.length === 0 ? undefined : placeIn(query, order, seek);
  const documents = includesDocuments(query);
  const part = { filter, order, reversed, offset, limit: limit + 1, ...(after && { after }) };
  const wanted = { ...part, documents, maxBytes: maxPageBytes, signal };
  const [page, counted] = await Promise.all([
    query.search === undefined ? storage.jobs.listSorted(wanted) : sortedMatches(storage, wanted),
    query.count === 'none' ? undefined : storage.jobs.count(filter, signal),
  ]);
  const items = page.jobs.slice(0, limit).map(toJobItem);
  return {
    items: reversed ? items.toReversed() : items,
    more: page.cut || page.jobs.length > limit,
    cut: page.cut && items.length < limit,
    partial: page.partial,
    total: counted?.count,
    estimated: counted?.exact === false,
  };
}

/** Sorts the newest matches of a search for words, which tolerates typos. */
async function sortedMatches(
  { jobs }: Pick<JobStorage, 'jobs'>,
  { filter = {}, order, reversed = false, after, offset = 0, limit, ...page }: SortedJobsQuery,
): Promise<SortedJobsPage> {
  const newest = {
    filter,
    order: 'newest',
    limit: maxCompared,
    documents: false,
    maxBytes: Infinity,
  } as const;
  const result = await jobs.search({ ...newest, ...(page.signal && { signal: page.signal }) });
  const direction = reversed ? -1 : 1;
  const ordered = result.jobs
    .map(({ id, ...job }) => ({ id, place: placeOf({ id, ...job }, order) }))
    .filter(({ place }) => after === undefined || comparePlaces(place, after, order) * direction > 0)
    .toSorted((one, other) => comparePlaces(one.place, other.place, order) * direction);
  const id = ordered.slice(offset, offset + limit).map((job) => job.id);
  const partial = result.partial || result.total > maxCompared;
  if (id.length === 0) return { jobs: [], cut: false, partial };
  return { ...(await wholeJobs(jobs, id, page)), partial };
}

/** Reads jobs in the order of their ids in the list. Ends before a job that would exceed the size limit, but has the first. */
async function wholeJobs(
  jobs: JobStorage['jobs'],
  ids: readonly string[],
  page: Pick<JobPageQuery, 'documents' | 'maxBytes' | 'signal'>,
): Promise<JobPage> {
  const read = await jobs.listPage({ ...page, filter: { id: ids }, limit: ids.length });
  const byId = new Map(read.jobs.map((job) => [job.id, job]));
  const missing = read.cut ? ids.findIndex((id) => !byId.has(id)) : -1;
  if (missing === 0 && ids.length > 1)
    return { ...(await wholeJobs(jobs, ids.slice(0, 1), page)), cut: true };
  const end = missing < 0 ? ids.length : missing;
  return { jobs: ids.slice(0, end).flatMap((id) => byId.get(id) ?? []), cut: end < ids.length };
}

/** Returns the place of a cursor. The cursor contains the id, because the key is always the last term. */
function placeIn(
  { sort }: CollectionQuery,
  order: JobOrder,
  { values }: NonNullable<CollectionQuery['seek']>,
): JobPlace {
  return order.map(({ by }) => {
    const value =
      values[sort.findIndex(({ field }) => (by === 'id' ? field === 'id' : members[field] === by))];
    if (typeof value === 'number') return value;
    if (typeof value !== 'string') return null;
    return by === 'id' || by === 'concurrencyKey' ? value : new Date(value);
  });
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
async function searchResults(
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

/** What to use instead of PUT and DELETE on the list of jobs of a queue, server, recurring job or batch. */
export const jobsBelow = {
  replaceMany: 'Use PUT /jobs, which changes jobs by their ids.',
  deleteMany: 'Use DELETE /jobs with a filter.',
} satisfies NotAllowed;
