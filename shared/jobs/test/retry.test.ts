import { expect } from 'chai';
import { defineJob, TransactionEndedError } from '../src/index.js';
import { defaultRetryDelay, isRetryable } from '../src/job/retry.js';

describe('The default delay before a retry', () => {
  for (const attempt of [1, 2, 5, 9]) {
    it(`is ${attempt}⁴ seconds, plus or minus a tenth, after attempt ${attempt}`, () => {
      const seconds = defaultRetryDelay(attempt, new Error('x')) / 1_000;
      expect(seconds).to.be.within(0.9 * attempt ** 4, 1.1 * attempt ** 4);
    });
  }
});

describe('A list of delays', () => {
  it('is used in order, and its last entry repeats', () => {
    const { retryDelay } = defineJob({ name: 'listed', retryDelay: [10, 500] });
    expect([1, 2, 3, 9].map((attempt) => retryDelay(attempt, null))).to.deep.equal([10, 500, 500, 500]);
  });

  for (const list of [[], [-1], [Number.NaN]]) {
    it(`rejects [${list.join(', ')}]`, () => {
      expect(() => defineJob({ name: 'listed', retryDelay: list })).to.throw(RangeError, 'retryDelay');
    });
  }
});

describe('An error is retried', () => {
  class NetworkError extends Error {}
  class DnsError extends NetworkError {}

  it('if there are no rules', () => {
    expect(isRetryable(new Error('x'), {})).to.equal(true);
  });

  it('if retryOn includes its class or a superclass', () => {
    expect(isRetryable(new DnsError('x'), { retryOn: [NetworkError] })).to.equal(true);
  });

  it('not if retryOn includes only other classes', () => {
    expect(isRetryable(new Error('x'), { retryOn: [NetworkError] })).to.equal(false);
  });

  it('not if giveUpOn includes its class, whatever retryOn includes', () => {
    expect(isRetryable(new DnsError('x'), { retryOn: [NetworkError], giveUpOn: [DnsError] })).to.equal(false);
  });

  it('not if another attempt cannot succeed, whatever retryOn includes', () => {
    expect(isRetryable(new TransactionEndedError(), { retryOn: [Error] })).to.equal(false);
  });
});
