import { expect } from 'chai';
import { Loop } from '../src/server/loop.js';
import { silentLogger } from '../src/server/logger.js';

describe('A background loop', () => {
  it('retries within a second, however long its rounds have failed', async () => {
    const pauses: number[] = [];
    let recovered = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      recovered = resolve;
    });
    const loop = new Loop({
      task: 'testing',
      runOnce: async () => {
        if (pauses.length < 7) throw new Error('away');
        recovered();
        return 60_000;
      },
      logger: {
        ...silentLogger,
        warn: (fields) => {
          pauses.push((fields as { retryInMs: number }).retryInMs);
        },
      },
    });
    loop.start();
    await ended;
    await loop.stop();
    expect(Math.max(...pauses)).to.be.at.most(1_000);
    expect(pauses).to.deep.equal(pauses.toSorted((one, other) => one - other));
  });
});
