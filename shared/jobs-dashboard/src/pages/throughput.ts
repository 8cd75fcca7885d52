import { recently } from '../diagnosis/situation.js';
import { chartOf, withFiner } from '../format/chart.js';
import { jobsPath, type Term } from '../search/filters.js';
import type { PageContext, Region } from '../shell/page.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * The charts `now`, `hour` and `day`. A single queue has no chart of the last 10 minutes, because jobs are counted per
 * ten seconds only for all queues together. `since` is the value of the search filter `finished-after`. `parts` is the
 * number of equal parts that the ticks divide the chart into.
 */
const now = {
  title: 'Finished in the last 10 minutes',
  unit: 'per 10 s',
  since: '10m',
  parts: 2,
  span: recently,
};
const hour = {
  title: 'Finished in the last hour',
  unit: 'per minute',
  since: '1h',
  parts: 4,
  span: { sinceMs: HOUR, bucketMs: MINUTE },
};
const day = {
  title: 'Finished in the last 24 hours',
  unit: 'per 15 min',
  since: '24h',
  parts: 4,
  span: { sinceMs: 24 * HOUR, bucketMs: 15 * MINUTE },
};

/** The query parameters for the throughput of the last hour by minute. */
export const lastHour = hour.span;

/**
 * Creates the region with throughput charts for one queue, or for all queues if `queue` is missing. The charts include
 * jobs that were retried or deleted later.
 */
export function throughputRegion({ reader }: PageContext, queue?: string): Region {
  const spans = queue === undefined ? [now, day] : [hour, day];
  const ofQueue: Term[] = queue === undefined ? [] : [{ key: 'queue', value: queue }];
  return {
    name: 'throughput',
    view: 'throughput',
    everyMs: 5_000,
    load: async () => {
      const [fine = [], coarse = []] = await Promise.all(
        spans.map(({ span }) =>
          reader.statistics.throughput({ ...span, ...(queue === undefined ? {} : { queue }) }),
        ),
      );
      const read = [fine, withFiner(coarse, fine, day.span.bucketMs)];
      return {
        charts: spans.map(({ title, unit, since, parts }, index) => {
          const terms: Term[] = [...ofQueue, { key: 'finished-after', value: since }];
          const failedPath = jobsPath({ state: 'failed', terms });
          return { title, unit, failedPath, chart: chartOf(read[index] ?? [], parts) };
        }),
      };
    },
  };
}
