import { compareTexts } from '@longshore/edge';
import type { Queue } from '@longshore/jobs/storage';
import { pageOf } from '../list-page.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';
import { isUnserved, queueRows } from '../queue-row.js';

const ROWS = 50;

/** The sort orders of the list. Urgent queues, large job counts, long waits and few servers come first. */
const sorts = {
  urgency: (a: Queue, b: Queue) => urgency(a) - urgency(b) || sorts.wait(a, b),
  name: (a: Queue, b: Queue) => compareTexts(a.name, b.name),
  enqueued: (a: Queue, b: Queue) => b.counts.enqueued - a.counts.enqueued,
  processing: (a: Queue, b: Queue) => b.counts.processing - a.counts.processing,
  failed: (a: Queue, b: Queue) => b.counts.failed - a.counts.failed,
  wait: (a: Queue, b: Queue): number => readySince(a) - readySince(b),
  servers: (a: Queue, b: Queue) => a.servers - b.servers,
};

function readySince({ oldestEnqueuedAt }: Queue): number {
  return oldestEnqueuedAt?.getTime() ?? Number.MAX_VALUE;
}

/**
 * Returns a rank for sorting: 0 if jobs cannot start, 1 if jobs are enqueued, 2 if jobs are only running, and 3 if the
 * queue is idle.
 */
function urgency(queue: Queue): number {
  const { counts, pausedAt } = queue;
  if (isUnserved(queue) || (pausedAt !== null && counts.enqueued > 0)) return 0;
  if (counts.enqueued > 0) return 1;
  return counts.processing > 0 ? 2 : 3;
}

type Sort = keyof typeof sorts;

export async function queuesPage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  const requested = query.get('sort') ?? 'urgency';
  const sort: Sort = Object.hasOwn(sorts, requested) ? (requested as Sort) : 'urgency';
  return {
    title: 'Queues',
    section: 'queues',
    view: 'page',
    regions: [
      {
        name: 'queues',
        view: 'queues-list',
        everyMs: 5_000,
        load: async () => {
          const queues = (await reader.queues.list()).toSorted(
            (a, b) => sorts[sort](a, b) || sorts.name(a, b),
          );
          const { rows, ...place } = pageOf(queues, query, ROWS);
          return { ...place, sort, ...(await queueRows(rows, reader)) };
        },
      },
    ],
  };
}
