import { newId } from '@longshore/jobs/storage';
import type { Story } from './story.js';

/** Adds two jobs of a concurrency key that allows one at once, so that one of them is blocked, in the queue `keyed`. */
export async function seedBlockedKey(storage: Story['storage']): Promise<void> {
  const meta = { concurrencyKey: 'tenant-7', concurrencyLimit: 1 };
  const order = { ...storage.order({ name: 'export', queue: 'keyed' }), meta };
  await storage.enqueuer.enqueue([order, { ...order, id: newId() }]);
}
