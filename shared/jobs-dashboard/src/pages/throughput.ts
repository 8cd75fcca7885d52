import { recently } from '../diagnosis/failing.js';
import { chartOf } from '../format/chart.js';
import type { PageContext, Region } from './page.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** How fine throughput is kept differs: of all queues by ten seconds, of one by the minute. */
const now = { title: 'Last 10 minutes', ...recently };
const hour = { title: 'Last hour', sinceMs: HOUR, bucketMs: MINUTE };
const day = { title: 'Last 24 hours', sinceMs: 24 * HOUR, bucketMs: 15 * MINUTE };

/** What ended, by time: of one queue, or of all. */
export function throughputRegion({ reader }: PageContext, queue?: string): Region {
  const spans = queue === undefined ? [now, day] : [hour, day];
  return {
    name: 'throughput',
    view: 'throughput',
    everyMs: 5_000,
    load: async () => ({
      charts: await Promise.all(
        spans.map(async ({ title, ...span }) => {
          const query = { ...span, ...(queue === undefined ? {} : { queue }) };
          return { title, chart: chartOf(await reader.statistics.throughput(query)) };
        }),
      ),
    }),
  };
}
