import { describeStorage } from '../src/conformance/index.js';
import { MemoryStorage } from '../src/index.js';

describeStorage('Memory', async () => {
  let aheadMs = 0;
  const storage = new MemoryStorage({ clock: { now: () => Date.now() + aheadMs } });
  await storage.open();
  return {
    storage,
    silence: async () => {
      aheadMs += 120_000; // longer than the timeout of any server of the suite
    },
    close: () => storage.close(),
  };
});
