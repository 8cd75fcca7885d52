import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { PacedScan } from '../src/claim/paced-scan.js';

describe('A paced scan', () => {
  /** Returns a scan that has run once and took this long, in milliseconds. */
  async function scanThatTook(ms: number): Promise<{ scan: PacedScan; clock: ManualClock }> {
    const clock = new ManualClock();
    const scan = new PacedScan(200, clock.now);
    await scan.run(async () => clock.advance(ms));
    return { scan, clock };
  }

  it('is due again immediately while it is fast', async () => {
    for (const ms of [0, 200]) expect((await scanThatTook(ms)).scan.isDue, `${ms} ms`).to.equal(true);
  });

  it('is due after a pause that grows with its duration once it is slow', async () => {
    for (const [ms, pauseMs] of [
      [201, 50],
      [250, 2_500],
    ] as const) {
      const { scan, clock } = await scanThatTook(ms);
      clock.advance(pauseMs - 1);
      expect(scan.isDue, `${ms} ms`).to.equal(false);
      clock.advance(1);
      expect(scan.isDue, `${ms} ms`).to.equal(true);
    }
  });
});
