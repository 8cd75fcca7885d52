import { pbkdf2Sync } from 'node:crypto';
import { expect } from 'chai';
import { inSlices, mapInSlices } from '../src/slices.js';

const elements = Array.from({ length: 10 }, (_, index) => index);

/** Computes for longer than a slice may take, on any machine. */
function work(): void {
  pbkdf2Sync('', '', 40_000, 64, 'sha512');
}

describe('Sliced work', () => {
  it('lets other work run between loops, each of which is too short to yield', async () => {
    let finished = 0;
    const finishedBeforeOtherWork = new Promise<number>((resolve) => {
      setImmediate(() => resolve(finished));
    });
    for (let loop = 0; loop < 6; loop++) {
      await inSlices([0, 1], work);
      finished++;
    }
    expect(await finishedBeforeOtherWork).to.be.at.most(2);
  });

  it('lets other work run between elements of which the clock is read for every second one', async () => {
    let processed = 0;
    const processedBeforeOtherWork = new Promise<number>((resolve) => {
      setImmediate(() => resolve(processed));
    });
    await inSlices(elements, () => (work(), void processed++), 2);
    expect(await processedBeforeOtherWork).to.equal(2);
    expect(processed).to.equal(elements.length);
  });

  it('of concurrent calls takes turns', async () => {
    const order: string[] = [];
    await Promise.all(['a', 'b'].map((name) => inSlices(elements, () => (work(), void order.push(name)))));
    expect(order.lastIndexOf('a')).to.be.above(order.indexOf('b'));
    expect(order.lastIndexOf('b')).to.be.above(order.indexOf('a'));
  });

  it('returns results in the order of the elements', async () => {
    const results = await mapInSlices(elements, (element, index) => (work(), [element, index]));
    expect(results).to.deep.equal(elements.map((element) => [element, element]));
  });
});
