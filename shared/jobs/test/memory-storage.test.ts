import { describeStorage } from '@longshore/jobs-storage-tests';
import { MemoryStorage } from '../src/index.js';

describeStorage('Memory', async () => {
  let aheadMs = 0;
  const storage = new MemoryStorage({ clock: { now: () => Date.now() + aheadMs } });
  await storage.open();
  return {
    storage,
    silence: async () => {
      aheadMs += 120_000; // longer than the timeout of every server in the suite
    },
    setNextDue: async (id, at) => {
      const before = aheadMs;
      aheadMs = at.getTime() - 500 - Date.now();
      await storage.recurring.pause(id);
      await storage.recurring.resume(id);
      aheadMs = before;
    },
    close: () => storage.close(),
  };
});
