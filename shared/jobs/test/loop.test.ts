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

  it('resolves a round that was asked for when it has succeeded, and not one that had begun or failed', async () => {
    let rounds = 0;
    let endFirst = (): void => undefined;
    const first = new Promise<void>((resolve) => (endFirst = resolve));
    const runOnce = async (): Promise<number> => {
      const round = ++rounds;
      if (round === 1) await first;
      if (round === 2) throw new Error('away');
      return 1_000 * round;
    };
    const loop = new Loop({ task: 'testing', runOnce, logger: silentLogger });
    loop.start();
    const asked = loop.round();
    endFirst();
    expect(await asked).to.equal(3_000);
    await loop.stop();
    expect(await loop.round()).to.equal(null);
  });

  it('gives up a round that was asked for when it stops', async () => {
    const runOnce = (): Promise<number> => Promise.reject(new Error('away'));
    const loop = new Loop({ task: 'testing', runOnce, logger: silentLogger });
    loop.start();
    const asked = loop.round();
    await loop.stop();
    expect(await asked).to.equal(null);
  });
});
