import { describeStorage } from '@longshore/jobs-storage-tests';
import { MemoryStorage } from '../src/index.js';

describeStorage('Memory', async () => {
  let aheadMs = 0;
  /** The time at which the clock stands still; `null` while it runs. */
  let stoppedAtMs: number | null = null;
  const storage = new MemoryStorage({ clock: { now: () => stoppedAtMs ?? Date.now() + aheadMs } });
  await storage.open();
  return {
    storage,
    silence: async () => {
      aheadMs += 3_601_000; // longer than the timeout of every server in the suite
    },
    setNextDue: async (id, at) => {
      stoppedAtMs = at.getTime() - 500;
      await storage.recurring.pause(id);
      await storage.recurring.resume(id);
      stoppedAtMs = null;
    },
    close: () => storage.close(),
  };
});
