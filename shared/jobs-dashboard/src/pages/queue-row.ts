import type { Queue, StateCounts } from '@longshore/jobs/storage';
import { pauseText } from '../diagnosis/pause.js';
import type { Sentence } from '../format/sentence.js';
import { type Sparkline, sparklineOf } from '../format/sparkline.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import { readLastHour } from '../reading/last-hour.js';
import type { PartialModel } from './page.js';

export interface QueueRow {
  readonly name: string;
  readonly counts: StateCounts;
  readonly oldestEnqueuedAt: Date | null;
  readonly servers: number;
  /** Text such as “paused by ann 20 min ago: PSP outage, until 07:00”; `null` if the queue is not paused. */
  readonly paused: Sentence | null;
  readonly concurrencyLimit: Queue['concurrencyLimit'];
  readonly rateLimit: Queue['rateLimit'];
  /** Whether the queue has enqueued, scheduled or awaiting jobs, but no running server consumes it. */
  readonly unserved: boolean;
}

export function queueRow(queue: Queue): QueueRow {
  const { name, counts, oldestEnqueuedAt, servers, concurrencyLimit, rateLimit } = queue;
  return {
    name,
    counts,
    oldestEnqueuedAt,
    servers,
    paused: pauseText(queue),
    concurrencyLimit,
    rateLimit,
    unserved: isUnserved(queue),
  };
}

export function isUnserved({ counts, servers }: Queue): boolean {
  return servers === 0 && counts.enqueued + counts.scheduled + counts.awaiting > 0;
}

interface QueueRows extends PartialModel {
  /** In each row, `ended` is the throughput of the last hour; `null` if it is unknown. */
  readonly queues: readonly (QueueRow & { readonly ended: Sparkline | null })[];
  /** Whether the throughput could not be read. */
  readonly gaveUp: boolean;
}

export async function queueRows(queues: readonly Queue[], reader: DashboardReader): Promise<QueueRows> {
  const names = queues.map(({ name }) => name);
  const { byQueue, partial } = await readLastHour(names, reader);
  return {
    queues: queues.map((queue) => {
      const buckets = byQueue?.get(queue.name);
      return { ...queueRow(queue), ended: buckets === undefined ? null : sparklineOf(buckets) };
    }),
    partial,
    gaveUp: byQueue === null && !partial,
  };
}
