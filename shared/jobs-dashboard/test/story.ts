import type { JsonValue } from '@longshore/jobs';
import type { Outcome } from '@longshore/jobs/storage';
import { ManualClock } from '@longshore/test-support';
import { SEED_TIMEOUT_MS, SeededStorage } from './seeded-storage.js';
import { cardEnds, timeoutError } from './story-errors.js';
import { fillOrders, seedAuditEntries, seedOffice } from './story-office.js';
import { seedBatch, startBatch } from './story-batch.js';
import { workUntil } from './story-work.js';
import { reportImport } from './story-log.js';
import { fireRecurring, seedRecurring } from './story-recurring.js';

const MINUTE = 60_000;

const done = (result: JsonValue): Outcome => ({ kind: 'done', result: JSON.stringify(result) });

/** A seeded storage, with the ids of jobs and other objects in notable states. */
export interface Story {
  storage: SeededStorage;
  /** A job that succeeded on its first attempt. */
  doneId: string;
  /** A job that succeeded after two failed attempts. */
  retriedId: string;
  /** A job that has failed and used up all its attempts. */
  failedId: string;
  /** A job that is running again after its first server was stopped. */
  processingId: string;
  /** A job that is waiting for its next attempt. */
  retryingId: string;
  /** A job that is due in an hour. */
  scheduledId: string;
  enqueuedId: string;
  /** A job in a queue that no server consumes. */
  unservedId: string;
  /** A job that is waiting for `processingId` to finish. */
  awaitingId: string;
  batchId: string;
  /** A server that is still running. */
  serverId: string;
  /** A bulk operation that has cancelled several jobs. */
  operationId: string;
  /** A recurring job that has run a few times. */
  recurringId: string;
  /** The incident of a warning that lasts. */
  incidentId: string;
}

/**
 * Seeds a storage with 90 minutes in the life of a small shop, up to `endMs`. With `busy`, the shop has more work, and
 * the story begins a day earlier.
 */
export async function seedStory(
  endMs: number = Date.parse('2026-03-01T14:05:00Z'),
  { busy = false }: { busy?: boolean } = {},
): Promise<Story> {
  const clock = new ManualClock(new Date(endMs - 90 * MINUTE - (busy ? 24 * 60 * MINUTE : 0)));
  const storage = new SeededStorage(clock);
  const at = async (minutesBeforeEnd: number): Promise<void> => {
    const untilMs = endMs - minutesBeforeEnd * MINUTE;
    if (busy) await workUntil(storage, untilMs);
    clock.advance(untilMs - clock.now());
  };
  if (busy) await seedAuditEntries(storage);
  await at(90);
  const queues = ['billing', 'default', 'images', 'mail', 'newsletter', 'stock'];
  if (busy) queues.push('batched', 'orders');
  const first = await storage.servers.register({
    host: 'worker-1',
    pid: 4127,
    queues,
    concurrency: 8,
    timeoutMs: SEED_TIMEOUT_MS,
  });
  const gone = await storage.servers.register({
    host: 'worker-0',
    pid: 812,
    queues,
    concurrency: 8,
    timeoutMs: SEED_TIMEOUT_MS,
  });

  const recurringId = await seedRecurring(storage);
  for (let index = 0; index < 60; index += 1) {
    await storage.add({
      name: index % 2 === 0 ? 'resize-image' : 'generate-thumbnail',
      queue: 'images',
      args: { imageId: 8_000 + index, width: 320 },
    });
    const claimed = await storage.start(first.id, 'images');
    clock.advance(400 + 137 * (index % 7));
    await storage.end(claimed, done({ bytes: 18_000 + 91 * index }));
    clock.advance(20_000);
    await fireRecurring(storage, first.id);
  }

  await at(58);
  const failedId = await storage.add({
    name: 'charge-card',
    queue: 'billing',
    maxAttempts: 3,
    args: {
      orderId: 90_071,
      cents: 12_950,
      currency: 'EUR',
      cardToken: 'tok_visa_4242',
      customer: { id: 77, email: 'ada@example.com' },
    },
  });
  for (const [index, outcome] of cardEnds.entries()) {
    const claimed = await storage.start(first.id, 'billing');
    clock.advance(1_240 + 300 * index);
    await storage.end(claimed, outcome);
    clock.advance(45_000 * (index + 1));
    await storage.maintenance.promoteDue(10);
  }

  await at(42);
  await fireRecurring(storage, first.id);
  await at(40);
  const retriedId = await storage.add({
    name: 'send-invoice',
    queue: 'mail',
    args: { invoiceId: 5_512, to: 'ada@example.com' },
  });
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const claimed = await storage.start(first.id, 'mail');
    clock.advance(attempt === 3 ? 800 : 10_000);
    await storage.end(
      claimed,
      attempt === 3
        ? done({ messageId: '<5512@mail.example.com>' })
        : { kind: 'retry', error: timeoutError, delayMs: 16_000 },
    );
    clock.advance(16_400);
    await storage.maintenance.promoteDue(10);
  }

  await at(27);
  await fireRecurring(storage, first.id);
  await at(20);
  if (busy) await seedOffice(storage, first.id);
  await at(12);
  await fireRecurring(storage, first.id);
  const doneId = await storage.add({
    name: 'send-receipt',
    queue: 'mail',
    args: {
      orderId: 90_080,
      lines: [
        { sku: 'A-1', amount: 2 },
        { sku: 'B-7', amount: 1 },
      ],
      gift: false,
      note: null,
    },
  });
  clock.advance(140);
  const receipt = await storage.start(first.id, 'mail');
  clock.advance(2_310);
  await storage.end(receipt, done({ messageId: '<90080@mail.example.com>', bytes: 20_481 }));

  await at(9);
  const processingId = await storage.add({
    name: 'import-catalogue',
    args: { supplier: 'northern-lights', pages: 214 },
  });
  await storage.start(gone.id, 'default');
  clock.advance(40_000);
  await gone.unregister();

  const second = await storage.servers.register({
    host: 'worker-2',
    pid: 4310,
    queues: ['default', 'mail'],
    concurrency: 4,
    timeoutMs: SEED_TIMEOUT_MS,
  });
  await at(7);
  await reportImport(storage, await storage.start(second.id, 'default'));
  second.report(1);
  const awaitingId = await storage.add({
    name: 'publish-catalogue',
    args: { supplier: 'northern-lights' },
    after: processingId,
  });

  if (busy) {
    await at(4.5);
    await fireRecurring(storage, first.id);
  }
  await at(3);
  const retryingId = await storage.add({
    name: 'send-invoice',
    queue: 'mail',
    args: { invoiceId: 5_530, to: 'grace@example.com' },
  });
  const retrying = await storage.start(second.id, 'mail');
  clock.advance(10_000);
  await storage.end(retrying, { kind: 'retry', error: timeoutError, delayMs: 4 * MINUTE });
  const scheduledId = await storage.add({
    name: 'nightly-report',
    args: { day: '2026-03-01' },
    inMs: 60 * MINUTE,
  });
  const unservedId = await storage.add({
    name: 'rebuild-search-index',
    queue: 'search',
    args: { full: true },
  });

  await at(2);
  const batchId = await seedBatch(storage);
  await startBatch(storage, first.id);
  await at(0.5);
  for (let index = 0; index < 9; index += 1) {
    await storage.add({
      name: 'resize-image',
      queue: 'images',
      args: { imageId: 8_100 + index, width: 1_280 },
    });
  }
  for (let index = 0; index < 5; index += 1) await storage.start(first.id, 'images');
  first.report(6);
  const enqueuedId = await storage.add({ name: 'sync-inventory', queue: 'images', args: { warehouse: 3 } });
  for (const week of [7, 8, 9]) {
    await storage.add({ name: 'weekly-report', queue: 'reports', args: { week }, inMs: 48 * 60 * MINUTE });
  }
  const { id: operationId } = await storage.bulk.start({
    action: 'cancel',
    filter: { name: ['weekly-report'], state: ['scheduled'] },
    requestedBy: 'ada',
  });
  while (await storage.bulk.advance()) clock.advance(340);
  await at(0.1);
  if (busy) await fillOrders(storage, first);
  await at(0);
  const incidentId = await storage.recordWarnings();
  return {
    storage,
    doneId,
    retriedId,
    failedId,
    processingId,
    retryingId,
    scheduledId,
    enqueuedId,
    unservedId,
    awaitingId,
    batchId,
    serverId: first.id,
    operationId,
    recurringId,
    incidentId,
  };
}
