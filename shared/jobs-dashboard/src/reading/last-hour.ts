import { StorageUnavailableError } from '@longshore/jobs';
import type { Bucket } from '../format/chart.js';
import type { DashboardReader } from './dashboard-reader.js';
import { soon } from './deadline.js';

const MINUTE_MS = 60_000;
const span = { sinceMs: 60 * MINUTE_MS, bucketMs: 5 * MINUTE_MS };

/** How long to wait for the throughput, in milliseconds. */
const WAIT_MS = 25;

export interface LastHour {
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
export async function readLastHour(
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
