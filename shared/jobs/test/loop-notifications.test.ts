import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { Loop } from '../src/server/loop.js';
import { silentLogger } from '../src/server/logger.js';

describe('A loop that is notified', () => {
  const hourMs = 3_600_000;
  let rounds: number;
  let loop: Loop;

  async function started(pauseMs: number, floorMs: number): Promise<void> {
    rounds = 0;
    const runOnce = async (): Promise<number> => {
      rounds++;
      return pauseMs;
    };
    loop = new Loop({ task: 'counting', logger: silentLogger, floorMs, runOnce });
    loop.start();
    await eventually(() => rounds === 1);
  }

  /** Resolves after a round of another loop, which began to wait later. */
  async function later(): Promise<void> {
    let isMarked = false;
    const runOnce = async (): Promise<number> => {
      isMarked = true;
      return hourMs;
    };
    const other = new Loop({ task: 'marking', logger: silentLogger, runOnce });
    other.start(1);
    await eventually(() => isMarked);
    await other.stop();
  }

  afterEach(() => loop.stop());

  it('runs one round for any number of notifications within its floor', async () => {
    await started(hourMs, hourMs);
    for (let sent = 0; sent < 1_000; sent++) loop.notified(0);
    await later();
    expect(rounds).to.equal(1);
  });

  it('runs as soon as something is due', async () => {
    await started(hourMs, 0);
    loop.notified(1);
    await eventually(() => rounds === 2);
  });

  it('does not run for something that is due after its next round', async () => {
    await started(hourMs / 2, 0);
    for (let sent = 0; sent < 1_000; sent++) loop.notified(hourMs);
    await later();
    expect(rounds).to.equal(1);
  });
});
