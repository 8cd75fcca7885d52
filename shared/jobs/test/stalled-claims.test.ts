import {
  defineJob,
  handleJob,
  JobServer,
  MemoryStorage,
  silentLogger,
  StorageUnavailableError,
} from '../src/index.js';
import { eventually, patientServer } from '@longshore/test-support';
import { expect } from 'chai';

describe('A server whose claims fail', () => {
  const work = defineJob({ name: 'work' });

  for (const [what, findReady] of [
    ['are refused', () => Promise.reject(new StorageUnavailableError('locked'))],
    ['are not answered', () => new Promise<never>(() => undefined)],
  ] as const)
    it(`is stalled while its requests ${what}, and not before`, async () => {
      const storage = new MemoryStorage();
      const server = new JobServer({
        storage,
        ...patientServer,
        stopTimeoutMs: 0,
        handlers: [handleJob(work, () => null)],
        logger: silentLogger,
      });
      await server.start();
      await eventually(
        () => server.stalledMs,
        (ms) => ms === 0,
      );
      const works = storage.claims.findReady.bind(storage.claims);
      storage.claims.findReady = findReady;
      let longest = 0;
      await eventually(() => {
        const grows = server.stalledMs > longest && longest > 0;
        longest = Math.max(longest, server.stalledMs);
        return grows;
      });
      storage.claims.findReady = works;
      await server.stop();
      expect(server.stalledMs).to.equal(0);
    });
});
