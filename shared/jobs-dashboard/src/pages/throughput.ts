import { recently } from '../diagnosis/recent-failures.js';
import { chartOf } from '../format/chart.js';
import { withFiner } from '../format/finer-buckets.js';
import { jobsPath, type Term } from '../search/filters.js';
import type { PageContext, Region } from './page.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** How fine throughput is kept differs: of all queues by ten seconds, of one by the minute. `since`: as a filter writes it. */
const now = {
  title: 'Ended in the last 10 minutes',
  unit: 'in 10 s',
  since: '10m',
  parts: 2,
  span: recently,
};
const hour = {
  title: 'Ended in the last hour',
  unit: 'a minute',
  since: '1h',
  parts: 4,
  span: { sinceMs: HOUR, bucketMs: MINUTE },
};
const day = {
  title: 'Ended in the last 24 hours',
  unit: 'in 15 min',
  since: '24h',
  parts: 4,
  span: { sinceMs: 24 * HOUR, bucketMs: 15 * MINUTE },
};

/** Also what tells how fast a queue is worked off. */
export const lastHour = hour.span;

/** What ended, by time: of one queue, or of all. What was retried or deleted since is counted, too. */
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
          const terms: Term[] = [...ofQueue, { key: 'after', value: since }];
          const failedPath = jobsPath({ state: 'failed', terms });
          return { title, unit, failedPath, chart: chartOf(read[index] ?? [], parts) };
        }),
      };
    },
  };
}
