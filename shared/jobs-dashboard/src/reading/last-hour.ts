import { StorageUnavailableError } from '@longshore/jobs';
import type { Bucket } from '../format/chart.js';
import type { DashboardReader } from './dashboard-reader.js';
import { soon } from './deadline.js';

const MINUTE_MS = 60_000;
const span = { sinceMs: 60 * MINUTE_MS, bucketMs: 5 * MINUTE_MS };

/** A page of queues waits for so long for what is beside its point, in milliseconds. */
const WAIT_MS = 25;

/** What ended in the last hour. */
export interface LastHour {
  /** Of each queue; `null` as long as it is not known. */
  readonly byQueue: ReadonlyMap<string, readonly Bucket[]> | null;
  /** It is still being read. */
  readonly partial: boolean;
}

/** Of these queues only, at most a hundred. A list of queues is whole without it, so it neither waits for it nor fails with it. */
export async function readLastHour(
  queues: readonly string[],
  { statistics }: Pick<DashboardReader, 'statistics'>,
): Promise<LastHour> {
  if (queues.length === 0) return { byQueue: new Map(), partial: false };
  try {
    // In one order, whatever the list is sorted by: so it is read once for all of them.
    const ended = statistics.throughputByQueue({ ...span, queues: queues.toSorted() });
    const byQueue = (await soon(ended, WAIT_MS)) ?? null;
    return { byQueue, partial: byQueue === null };
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
    return { byQueue: null, partial: false };
  }
}
