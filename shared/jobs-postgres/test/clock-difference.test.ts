import { expect } from 'chai';
import { clockDifference } from '../src/clock-difference.js';

describe('The difference of two clocks', () => {
  it('is positive for one that is ahead of the storage’s, negative for one that is behind', () => {
    expect(clockDifference(100_000, 90_010, 100_020)).to.equal(10_000);
    expect(clockDifference(100_000, 110_010, 100_020)).to.equal(-10_000);
  });

  it('is not known if the answer took too long, or the clock was set meanwhile', () => {
    expect(clockDifference(100_000, 100_000, 101_001)).to.equal(null);
    expect(clockDifference(100_000, 100_000, 99_000)).to.equal(null);
  });
});
