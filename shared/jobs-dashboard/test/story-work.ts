import type { SeededStorage } from './seeded-storage.js';

const STEP_MS = 10_000;
const DAY_MS = 24 * 3_600_000;
const names = ['resize-image', 'send-receipt', 'generate-thumbnail', 'sync-order'];
const customers = ['ada@example.com', 'grace@example.com', 'linus@example.com', 'margaret@example.com'];
const refused = {
  name: 'ShopClosedError',
  message: 'The supplier answers again in the morning',
  stack: null,
};

/**
 * Runs ordinary jobs until a point in time, with more jobs by day than by night. The jobs are the same in every run.
 */
export async function workUntil(storage: SeededStorage, untilMs: number): Promise<void> {
  const { manualClock: clock } = storage;
  const server = await storage.servers.register({
    host: 'worker-9',
    pid: 9,
    queues: ['orders'],
    concurrency: 1,
    timeoutMs: DAY_MS,
  });
  for (let step = 0; clock.now() + STEP_MS < untilMs; step += 1) {
    const tide = 1 + Math.sin((2 * Math.PI * (clock.now() % DAY_MS)) / DAY_MS - 2);
    const jobs = Math.round(tide * 2 * Math.abs(Math.sin(step * 1.7) + 0.3 * Math.sin(step * 5.3)));
    for (let index = 0; index < jobs; index += 1) {
      await storage.add({
        name: names[(step + index) % names.length] ?? '',
        queue: 'orders',
        args: {
          orderId: 41_000 + 3 * step + index,
          customer: customers[(step * 3 + index) % customers.length] ?? '',
        },
        maxAttempts: 1,
      });
      const claimed = await storage.start(server.id, 'orders');
      clock.advance(40 + ((step * 7 + index * 13) % 90));
      await storage.end(
        claimed,
        (step * 3 + index) % 211 === 0
          ? { kind: 'failed', error: refused }
          : { kind: 'done', result: '{"ok":true}' },
      );
    }
    clock.advance(STEP_MS - (clock.now() % STEP_MS));
  }
  await server.unregister();
}
