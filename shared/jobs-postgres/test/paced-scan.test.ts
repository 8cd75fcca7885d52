import { expect } from 'chai';
import { PacedScan } from '../src/claim/paced-scan.js';

const until = (ms: number): void => {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
};

describe('A paced scan', () => {
  it('is due again immediately while it is fast', async () => {
    const scan = new PacedScan();
    await scan.run(async () => undefined);
    expect(scan.isDue).to.equal(true);
  });

  it('is delayed after a slow one', async () => {
    const scan = new PacedScan();
    await scan.run(async () => until(250));
    expect(scan.isDue).to.equal(false);
  });
});
