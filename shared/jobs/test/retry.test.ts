import { expect } from 'chai';
import { defaultRetryDelay } from '../src/index.js';

describe('The default pause before a retry', () => {
  for (const attempt of [1, 2, 5, 9]) {
    it(`is ${attempt}⁴ seconds, plus or minus a tenth, after attempt ${attempt}`, () => {
      const seconds = defaultRetryDelay(attempt, new Error('x')) / 1_000;
      expect(seconds).to.be.within(0.9 * attempt ** 4, 1.1 * attempt ** 4);
    });
  }
});
