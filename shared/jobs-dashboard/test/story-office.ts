import { newId, type ServerRegistration } from '@longshore/jobs/storage';
import type { SeededStorage } from './seeded-storage.js';

const MINUTE = 60_000;

/** Adds batches, queue limits, audit entries and a bulk retry to the story. */
export async function seedOffice(storage: SeededStorage, serverId: string): Promise<void> {
  await seedBatches(storage, serverId);
  await storage.queues.limit('mail', { concurrencyLimit: 4, rateLimit: { jobs: 100, periodMs: 60_000 } });
  await storage.queues.limit('orders', { concurrencyLimit: 2, rateLimit: null });
  await seedActions(storage);
  await storage.bulk.start({
    action: 'retry',
    filter: { name: ['sync-order'], state: ['failed'], error: ['ShopClosedError'] },
    requestedBy: 'grace',
  });
}

async function seedBatches(storage: SeededStorage, serverId: string): Promise<void> {
  for (const [index, [name, size, failing]] of (
    [
      ['Invoices of February', 48, 0],
      ['Price list of northern-lights', 36, 2],
      ['Thumbnails after the new theme', 60, 0],
    ] as const
  ).entries()) {
    const id = newId(storage.manualClock.now());
    const jobs = Array.from({ length: size }, (_each, position) => ({
      ...storage.order({
        name: ['send-invoice', 'import-prices', 'generate-thumbnail'][index] ?? '',
        queue: 'batched',
        args: { place: position, of: size },
        maxAttempts: 1,
      }),
      meta: { batchId: id },
    }));
    await storage.enqueuer.enqueueBatch({ id, name, jobs, callback: null });
    for (let position = 0; position < size; position += 1) {
      const claimed = await storage.start(serverId, 'batched');
      storage.manualClock.advance(600 + 37 * (position % 5));
      const error = { name: 'PriceError', message: `Line ${position} has no currency`, stack: null };
      await storage.end(
        claimed,
        position < failing ? { kind: 'failed', error } : { kind: 'done', result: '{}' },
      );
    }
    storage.manualClock.advance(MINUTE);
  }
}

/** Records operators' actions at the start of a busy story, a day before its other audit entries. */
export async function seedAuditEntries(storage: SeededStorage): Promise<void> {
  for (const [who, action, target] of [
    ['linus', 'queues/pause', 'newsletter'],
    ['linus', 'queues/resume', 'newsletter'],
    ['grace', 'recurring/trigger', 'count-stock'],
  ] as const) {
    await storage.audit.record({ who, action, target, filter: null, count: 1 });
    storage.manualClock.advance(3 * MINUTE);
  }
}

async function seedActions(storage: SeededStorage): Promise<void> {
  const failed = await storage.jobs.list({ filter: { state: ['failed'] }, limit: 3 });
  const [one, other] = failed.map(({ id }) => id);
  const entries = [
    ['ada', 'queues/pause', 'images'],
    ['ada', 'queues/resume', 'images'],
    ['linus', 'jobs/retry', one ?? ''],
    ['linus', 'jobs/retry', other ?? ''],
    ['grace', 'recurring/trigger', 'nightly-report'],
    ['ada', 'recurring/pause', 'reindex-sundays'],
  ] as const;
  await storage.audit.record({
    who: 'grace',
    action: 'queues/limit',
    target: 'mail',
    filter: {
      values: { concurrencyLimit: 4, rateLimit: { jobs: 100, periodMs: 60_000 } },
      before: { concurrencyLimit: 2, rateLimit: { jobs: 100, periodMs: 60_000 } },
    },
    count: 1,
  });
  storage.manualClock.advance(1.5 * MINUTE);
  for (const [who, action, target] of entries) {
    await storage.audit.record({ who, action, target, filter: null, count: 1 });
    storage.manualClock.advance(1.5 * MINUTE);
  }
  await storage.audit.record({
    who: 'grace',
    action: 'bulk/retry',
    target: newId(storage.manualClock.now()),
    filter: { state: 'failed', terms: [{ key: 'name', value: 'sync-order' }] },
    count: 13,
  });
}

/**
 * Starts two jobs in the queue `orders`, as many as its limit allows. Reports that the server is running eight jobs.
 */
export async function fillOrders(storage: SeededStorage, server: ServerRegistration): Promise<void> {
  for (let index = 0; index < 2; index += 1) await storage.start(server.id, 'orders');
  server.report(8);
}
