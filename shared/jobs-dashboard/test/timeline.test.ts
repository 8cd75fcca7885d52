import type { Step } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { type Stretch, timeline, totalMs } from '../src/diagnosis/timeline.js';
import { ago, attempt, job, nowMs } from './situation.js';

describe('the timeline', () => {
  it('has no gaps from creation to the end', () => {
    const attempts = [
      attempt({ outcome: 'failed', startedAt: ago(90), finishedAt: ago(80) }),
      attempt({ attempt: 2, outcome: 'done', startedAt: ago(50), finishedAt: ago(45) }),
    ];
    const stretches = timeline(job({ state: 'done', finishedAt: ago(45) }), attempts, []);
    expect(stretches.map(({ kind }) => kind)).to.deep.equal(['wait', 'run', 'wait', 'run']);
    expect([totalMs(stretches, 'wait', nowMs), totalMs(stretches, 'run', nowMs)]).to.deep.equal([
      40_000, 15_000,
    ]);
  });

  it('of a waiting job continues until now', () => {
    expect(totalMs(timeline(job({}), [], []), 'wait', nowMs)).to.equal(100_000);
  });

  it('of a running job continues until now', () => {
    expect(totalMs(timeline(job({ state: 'processing' }), [attempt({})], []), 'run', nowMs)).to.equal(90_000);
  });

  it('of a cancelled job ends with the cancellation', () => {
    expect(
      totalMs(timeline(job({ state: 'cancelled', finishedAt: ago(70) }), [], []), 'wait', nowMs),
    ).to.equal(30_000);
  });

  const step = (name: string, kind: Step['kind'], startedAt: Date, finishedAt: Date | null): Step => ({
    name,
    kind,
    state: finishedAt === null ? 'waiting' : 'done',
    position: 1,
    result: null,
    error: null,
    isRemembered: true,
    attempts: 0,
    until: finishedAt,
    signals: null,
    childId: null,
    input: null,
    jobAttempt: 1,
    serverId: '',
    startedAt,
    finishedAt,
  });
  const shown = (stretches: readonly Stretch[]): unknown[] =>
    stretches.map(({ kind, from, until, waits }) => [kind, from, until, waits.map(({ name }) => name)]);

  it('of a job that was suspended shows its waits, and the runs between them', () => {
    const steps = [
      step('charge', 'step', ago(95), ago(90)),
      step('packed', 'wait', ago(90), ago(70)),
      step('nap', 'sleep', ago(85), ago(60)),
      step('approval', 'wait', ago(50), ago(19)),
    ];
    const attempts = [attempt({ outcome: 'done', startedAt: ago(20), finishedAt: ago(10) })];
    const done = job({ state: 'done', finishedAt: ago(10) });
    expect(shown(timeline(done, attempts, steps))).to.deep.equal([
      ['wait', ago(100), ago(95), []],
      ['run', ago(95), ago(90), []],
      ['wait', ago(90), ago(60), ['packed', 'nap']],
      ['run', ago(60), ago(50), []],
      ['wait', ago(50), ago(20), ['approval']],
      ['run', ago(20), ago(10), []],
    ]);
  });

  it('of a suspended job ends with its current wait', () => {
    const steps = [step('nap', 'sleep', ago(90), ago(60)), step('packed', 'wait', ago(50), null)];
    expect(shown(timeline(job({ state: 'scheduled' }), [], steps))).to.deep.equal([
      ['wait', ago(100), ago(90), []],
      ['wait', ago(90), ago(60), ['nap']],
      ['run', ago(60), ago(50), []],
      ['wait', ago(50), null, ['packed']],
    ]);
  });
});
