import type { Job, JobStorage } from '@longshore/jobs';
import type { JobFilter } from '@longshore/jobs/storage';
import { defineResource, maxPageBytes, type Resource } from '@longshore/resources';
import { includesDocuments, jobFilters, toJobFilter } from './job-filters.js';
import { JobItem, toJobItem } from './job-item.js';
import { jobsBelow } from './not-allowed.js';
import { maxCompared, type StoragePage, seekPage } from './seek.js';

type Storage = Pick<JobStorage, 'bulk' | 'jobs'>;

/** `/bulk-operations/{id}/jobs`: the jobs that an operation on many jobs has changed so far, and that still exist. */
export function bulkJobsResource(storage: Storage): Resource {
  return defineResource({
    name: 'jobs',
    singular: 'changed-job',
    description: 'The jobs that an operation on many jobs has changed so far, and that still exist.',
    item: JobItem,
    serverSet: Object.keys(JobItem.properties) as (keyof typeof JobItem.properties)[],
    filters: jobFilters,
    sort: ['createdAt'],
    defaultSort: ['-createdAt'],
    search: [],
    notAllowed: { ...jobsBelow, create: 'An operation changes jobs that exist; use POST /jobs.' },
    storage: {
      seeks: true,
      list: async (query, { parents }, signal) => {
        const id = parents.at(-1)?.id ?? '';
        const filter = toJobFilter(query);
        if (filter === null) return { items: [], total: 0 };
        const found = { partial: false };
        const documents = includesDocuments(query);
        const [page, operation] = await Promise.all([
          seekPage(query, async (part) => {
            const read = await changedJobs(storage, id, filter, { ...part, documents, signal });
            found.partial = read.partial;
            return read;
          }),
          query.count === 'none' ? undefined : storage.bulk.find(id),
        ]);
        const items = page.items.map(toJobItem);
        const { partial } = found;
        const isWhole = query.seek === undefined && query.offset === 0 && page.more !== true && !partial;
        const total = isWhole ? items.length : operation?.changed;
        return {
          ...page,
          items,
          partial,
          total: query.count === 'none' ? undefined : total,
          estimated: query.count !== 'none' && !isWhole,
        };
      },
    },
  });
}

interface Found {
  readonly rows: readonly Job[];
  readonly cut: boolean;
  readonly partial: boolean;
}

/**
 * Reads changed jobs until the page is full. Looks up at most {@link maxCompared} jobs, because most may have been deleted
 * or may not match.
 */
async function changedJobs(
  { bulk, jobs }: Storage,
  operationId: string,
  filter: JobFilter,
  {
    order,
    limit,
    offset,
    after,
    ...read
  }: StoragePage & { readonly documents: boolean; readonly signal: AbortSignal },
): Promise<Found> {
  const rows: Job[] = [];
  let place = after;
  let left = offset;
  for (let seen = 0; seen < maxCompared;) {
    const size = Math.min(1_000, Math.max(100, limit + offset));
    const changed = await bulk.listChanged(operationId, {
      order,
      limit: size,
      ...(place && { after: place }),
    });
    if (changed.length === 0) return { rows, cut: false, partial: false };
    const wanted = { ...filter, id: changed };
    const page = { ...read, order, limit: changed.length, maxBytes: maxPageBytes };
    const { jobs: found, cut } = await jobs.listPage({ ...page, filter: wanted });
    const skipped = Math.min(left, found.length);
    rows.push(...found.slice(skipped));
    left -= skipped;
    if (rows.length >= limit || cut) return { rows: rows.slice(0, limit), cut, partial: false };
    seen += changed.length;
    place = changed.at(-1);
  }
  return { rows, cut: false, partial: true };
}
