import { newId } from '@longshore/jobs/storage';
import type { SeededStorage } from './seeded-storage.js';

const newsletter = 'newsletter';
const refused = {
  name: 'MailboxFullError',
  message: 'mx.example.net refused the message: mailbox of reader 3 is full',
  stack: null,
};

/** Enqueues a batch of twelve mailing jobs, and a report job that runs after them. Returns the batch's id. */
export async function seedBatch(storage: SeededStorage): Promise<string> {
  const id = newId(storage.manualClock.now());
  const jobs = Array.from({ length: 12 }, (_each, index) => ({
    ...storage.order({ name: 'send-newsletter', queue: newsletter, args: { reader: index }, maxAttempts: 1 }),
    meta: { batchId: id, tags: ['march', 'newsletter'] },
  }));
  const report = storage.order({ name: 'report-mailing', queue: newsletter, args: { batch: id } });
  await storage.enqueuer.enqueueBatch({
    id,
    name: 'March newsletter',
    jobs,
    callback: { ...report, meta: { parentIds: [id] }, after: { parents: [id], when: 'onAny' } },
  });
  storage.manualClock.advance(100);
  return id;
}

/** Starts eight jobs of the batch. Six succeed, one fails because a mailbox is full, and one keeps running. */
export async function startBatch(storage: SeededStorage, serverId: string): Promise<void> {
  for (let index = 0; index < 8; index += 1) {
    const claimed = await storage.start(serverId, newsletter);
    storage.manualClock.advance(700 + 90 * index);
    if (index < 7) {
      await storage.end(
        claimed,
        index === 3 ? { kind: 'failed', error: refused } : { kind: 'done', result: 'null' },
      );
    }
  }
}
