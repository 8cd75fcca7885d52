import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';

describe('ManualClock', () => {
  it('stands still until it is moved', () => {
    const clock = new ManualClock(new Date(1_000));
    const before = clock.now();
    clock.advance(250);
    expect([before, clock.now()]).to.deep.equal([1_000, 1_250]);
  });

  it('wakes only those that are due, earliest first', async () => {
    const clock = new ManualClock();
    const woken: string[] = [];
    const late = clock.wait(20).then(() => woken.push('late'));
    const early = clock.wait(10).then(() => woken.push('early'));
    void clock.wait(21).then(() => woken.push('never'));
    clock.advance(20);
    await Promise.all([late, early]);
    expect(woken).to.deep.equal(['early', 'late']);
  });
});
