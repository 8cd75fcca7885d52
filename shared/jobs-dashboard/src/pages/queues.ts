import { jobStates, type Queue, type StateCounts } from '@longshore/jobs';
import { notFound } from '../http/problem.js';
import { jobRow } from './job-row.js';
import type { Page, PageContext, PageRequest } from './page.js';

const ROWS = 100;
const FEW_JOBS = 10;

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
  const page = Math.max(1, Math.trunc(Number(query.get('page'))) || 1);
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
          return {
            queues: queues.slice((page - 1) * ROWS, page * ROWS).map(queueRow),
            total: queues.length,
            sort,
            page,
            pages: Math.max(1, Math.ceil(queues.length / ROWS)),
          };
        },
      },
    ],
  };
}

export async function queuePage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const name = params['queue'] ?? '';
  await find(name, context);
  return {
    title: name,
    section: 'queues',
    view: 'queue',
    data: { name },
    regions: [
      { name: 'queue', view: 'queue-state', everyMs: 2_000, load: () => loadState(name, context) },
      { name: 'jobs', view: 'queue-jobs', everyMs: 5_000, load: () => loadJobs(name, context) },
    ],
  };
}

async function loadState(name: string, context: PageContext): Promise<object> {
  const [queue, servers] = await Promise.all([find(name, context), context.reader.listServers()]);
  return {
    queue: { ...queueRow(queue), createdAt: queue.createdAt },
    states: jobStates,
    servers: servers
      .filter(({ queues }) => queues.includes(name))
      .map(({ id, host, pid, concurrency, processing }) => ({ id, host, pid, concurrency, processing })),
  };
}

async function loadJobs(name: string, { reader }: PageContext): Promise<object> {
  const list = (state: 'enqueued' | 'processing' | 'failed', order: 'newest' | 'oldest') =>
    reader.listJobs({ filter: { queue: [name], state: [state] }, order, limit: FEW_JOBS });
  const [enqueued, processing, failed] = await Promise.all([
    list('enqueued', 'oldest'),
    list('processing', 'oldest'),
    list('failed', 'newest'),
  ]);
  return { enqueued: enqueued.map(jobRow), processing: processing.map(jobRow), failed: failed.map(jobRow) };
}

async function find(name: string, { reader }: PageContext): Promise<Queue> {
  const queue = (await reader.listQueues()).find((candidate) => candidate.name === name);
  if (queue === undefined) {
    throw notFound(
      'There is no such queue',
      `No job was ever put into a queue “${name}”, and no server takes jobs from it.`,
    );
  }
  return queue;
}
