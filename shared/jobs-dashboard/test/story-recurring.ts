import { defineJob, defineRecurringJob } from '@longshore/jobs';
import Type from 'typebox';
import type { SeededStorage } from './seeded-storage.js';

const countStock = defineJob({
  name: 'count-stock',
  queue: 'stock',
  args: Type.Object({ warehouse: Type.Integer() }),
});
const nightlyReport = defineJob({ name: 'nightly-report', args: Type.Object({ apiToken: Type.String() }) });

/** Adds the shop's recurring jobs. Returns the id of the most frequent one. */
export async function seedRecurring(storage: SeededStorage): Promise<string> {
  await storage.recurring.synchronize('shop', [
    defineRecurringJob({
      id: 'count-stock',
      definition: countStock,
      args: { warehouse: 3 },
      cron: '*/15 * * * *',
      timeZone: 'Europe/Berlin',
      overlap: 'skip',
    }),
    defineRecurringJob({
      id: 'nightly-report',
      definition: nightlyReport,
      args: { apiToken: 'tok_4711' },
      cron: '30 2 * * 1-5',
      timeZone: 'America/New_York',
      misfire: 'all',
    }),
  ]);
  await storage.recurring.addOrUpdate(
    defineRecurringJob({
      id: 'reindex-sundays',
      definition: nightlyReport,
      args: { apiToken: 'tok_4712' },
      cron: '0 4 * * 0',
      misfire: 'skip',
      overlap: 'wait',
      tags: ['search'],
      concurrency: { key: 'index', limit: 2 },
    }),
  );
  await storage.recurring.pause('reindex-sundays');
  return 'count-stock';
}

/** Enqueues the jobs of due recurring jobs, and runs them. These jobs must be in the queue `stock`. */
export async function fireRecurring(storage: SeededStorage, serverId: string): Promise<void> {
  const { fired } = await storage.recurring.fireDue(10);
  for (const _each of fired.flatMap(({ jobIds }) => jobIds)) {
    const claimed = await storage.start(serverId, 'stock');
    storage.manualClock.advance(4_900);
    await storage.end(claimed, { kind: 'done', result: '{"counted":412}' });
  }
}
