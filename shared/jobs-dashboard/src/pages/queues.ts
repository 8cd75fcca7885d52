import type { Queue, StateCounts } from '@longshore/jobs';
import { pageOf } from './list-page.js';
import type { Page, PageContext, PageRequest } from './page.js';

const ROWS = 100;

/** Columns that the list can be sorted by; counts start with the highest. */
const sorts = {
  name: (a: Queue, b: Queue) => a.name.localeCompare(b.name),
  enqueued: (a: Queue, b: Queue) => b.counts.enqueued - a.counts.enqueued,
  processing: (a: Queue, b: Queue) => b.counts.processing - a.counts.processing,
  failed: (a: Queue, b: Queue) => b.counts.failed - a.counts.failed,
  wait: (a: Queue, b: Queue) =>
    (a.oldestEnqueuedAt?.getTime() ?? Number.MAX_VALUE) - (b.oldestEnqueuedAt?.getTime() ?? Number.MAX_VALUE),
  servers: (a: Queue, b: Queue) => a.servers - b.servers,
};

type Sort = keyof typeof sorts;

export interface QueueRow {
  readonly name: string;
  readonly counts: StateCounts;
  readonly oldestEnqueuedAt: Date | null;
  readonly servers: number;
  /** Since when servers take no jobs from it; `null` if they do. */
  readonly pausedAt: Date | null;
  /** Jobs wait here and no running server takes them. */
  readonly unserved: boolean;
}

export function queueRow({ name, counts, oldestEnqueuedAt, servers, pausedAt }: Queue): QueueRow {
  const waiting = counts.enqueued + counts.scheduled + counts.awaiting;
  return { name, counts, oldestEnqueuedAt, servers, pausedAt, unserved: servers === 0 && waiting > 0 };
}

export async function queuesPage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  const asked = query.get('sort') ?? 'name';
  const sort: Sort = Object.hasOwn(sorts, asked) ? (asked as Sort) : 'name';
  return {
    title: 'Queues',
    section: 'queues',
    view: 'queues',
    regions: [
      {
        name: 'queues',
        view: 'queues-list',
        everyMs: 5_000,
        load: async () => {
          const queues = (await reader.listQueues()).toSorted(
            (a, b) => sorts[sort](a, b) || sorts.name(a, b),
          );
          const { rows, ...place } = pageOf(queues, query, ROWS);
          return { ...place, sort, queues: rows.map(queueRow) };
        },
      },
    ],
  };
}
