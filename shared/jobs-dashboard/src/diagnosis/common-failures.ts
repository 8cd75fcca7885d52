import type { ErrorGroup, Queue } from '@longshore/jobs/storage';
import { areManyFailures, type CommonFailures, type RecentThroughput, recently } from './recent-failures.js';
import { totalOf } from '../format/chart.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';

/** Maximum number of queues whose throughput is read. Those with the most failed jobs take precedence. */
const MAX_QUEUES = 100;
const MINUTE_MS = 60_000;

/**
 * Returns what most of the recent failures have in common; `null` if there are too few failures for a warning.
 *
 * @param ended how many jobs recently succeeded, and how many failed
 */
export async function readCommonFailures(
  ended: Pick<RecentThroughput, 'done' | 'failed'>,
  queues: readonly Queue[],
  reader: ReadingContext['reader'],
): Promise<CommonFailures | null> {
  if (!areManyFailures(ended)) return null;
  const { sinceMs } = recently;
  const names = queues
    .toSorted((one, other) => other.counts.failed - one.counts.failed)
    .slice(0, MAX_QUEUES)
    .map(({ name }) => name);
  const [byQueue, { groups }] = await Promise.all([
    reader.statistics.throughputByQueue({ queues: names, sinceMs, bucketMs: MINUTE_MS }),
    reader.statistics.listErrorGroups({ sinceMs }),
  ]);
  const failed = Array.from(byQueue, ([name, buckets]) => ({ name, failed: totalOf(buckets).failed }));
  const [queue] = failed.toSorted((one, other) => other.failed - one.failed);
  return {
    queue: queue !== undefined && queue.failed > 0 ? queue : null,
    stored: groups.reduce((sum, { retryable }) => sum + retryable, 0),
    error: mostFrequent(groups),
  };
}

function mostFrequent(groups: readonly ErrorGroup[]): CommonFailures['error'] {
  const [largest] = groups.toSorted((one, other) => other.retryable - one.retryable);
  if (largest === undefined || largest.retryable === 0) return null;
  const { fingerprint, message, failedExact } = largest;
  const most = failedExact || groups.filter((group) => !group.failedExact).length === 1;
  return { name: fingerprint.split(': ', 1)[0] ?? '', message, most };
}
