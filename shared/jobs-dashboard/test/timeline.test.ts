import { expect } from 'chai';
import { timeline, totalMs } from '../src/diagnosis/timeline.js';
import { ago, attempt, job, nowMs } from './situation.js';

describe('the timeline', () => {
  it('has no gaps from creation to the end', () => {
    const attempts = [
      attempt({ outcome: 'failed', startedAt: ago(90), finishedAt: ago(80) }),
      attempt({ attempt: 2, outcome: 'done', startedAt: ago(50), finishedAt: ago(45) }),
    ];
    const stretches = timeline(job({ state: 'done', finishedAt: ago(45) }), attempts);
    expect(stretches.map(({ kind }) => kind)).to.deep.equal(['wait', 'run', 'wait', 'run']);
    expect([totalMs(stretches, 'wait', nowMs), totalMs(stretches, 'run', nowMs)]).to.deep.equal([
      40_000, 15_000,
    ]);
  });

  it('of a waiting job continues until now', () => {
    expect(totalMs(timeline(job({}), []), 'wait', nowMs)).to.equal(100_000);
  });

  it('of a running job continues until now', () => {
    expect(totalMs(timeline(job({ state: 'processing' }), [attempt({})]), 'run', nowMs)).to.equal(90_000);
  });

  it('of a cancelled job ends with the cancellation', () => {
    expect(totalMs(timeline(job({ state: 'cancelled', finishedAt: ago(70) }), []), 'wait', nowMs)).to.equal(
      30_000,
    );
  });
});
