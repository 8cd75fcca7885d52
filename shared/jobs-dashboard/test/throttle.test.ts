import { expect } from 'chai';
import { Throttle } from '../src/auth/throttle.js';

describe('a throttle', () => {
  for (const [missed, other, shared] of [
    ['192.0.2.1', '192.0.2.2', false],
    ['2001:db8::1', '2001:db8::2', true],
    ['2001:db8::1', '2001:db8:0:0:ffff::', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', true],
    ['::1', '2001:db8::1', false],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
  ] as const) {
    it(`counts ${missed} and ${other} ${shared ? 'together' : 'separately'}`, () => {
      const throttle = new Throttle(1, 1_000, () => 0);
      throttle.count(missed);
      expect(throttle.waitMs(missed)).to.equal(1_000);
      expect(throttle.waitMs(other)).to.equal(shared ? 1_000 : 0);
    });
  }
});
