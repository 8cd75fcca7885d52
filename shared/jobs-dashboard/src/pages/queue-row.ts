import type { Queue, StateCounts } from '@longshore/jobs/storage';
import { pauseText } from '../diagnosis/pause.js';
import type { Sentence } from '../format/sentence.js';
import { type Sparkline, sparklineOf } from '../format/sparkline.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import type { PartialModel } from '../shell/page.js';
import { StorageUnavailableError } from '@longshore/jobs';
import type { Bucket } from '../format/chart.js';
import { soon } from '../cache/deadline.js';

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

const MINUTE_MS = 60_000;
const span = { sinceMs: 60 * MINUTE_MS, bucketMs: 5 * MINUTE_MS };

/** How long to wait for the throughput, in milliseconds. */
const WAIT_MS = 25;

interface LastHour {
  /** The throughput by queue; `null` if it is not known yet, or could not be read. */
  readonly byQueue: ReadonlyMap<string, readonly Bucket[]> | null;
  /** Whether the throughput is still being read. */
  readonly partial: boolean;
}

/**
 * Reads the throughput of each queue over the last hour. Waits no longer than {@link WAIT_MS}, and does not fail if the
 * storage is unavailable, because lists of queues are useful even without the throughput.
 *
 * @param queues the names of the queues, at most 100
 */
async function readLastHour(
  queues: readonly string[],
  { statistics }: Pick<DashboardReader, 'statistics'>,
): Promise<LastHour> {
  if (queues.length === 0) return { byQueue: new Map(), partial: false };
  try {
    // Sorts the names, so that all sort orders of a list share a cached read.
    const ended = statistics.throughputByQueue({ ...span, queues: queues.toSorted() });
    const byQueue = (await soon(ended, WAIT_MS)) ?? null;
    return { byQueue, partial: byQueue === null };
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    return { byQueue: null, partial: false };
  }
}
