import { expect } from 'chai';
import { overallState, warningCount } from '../src/diagnosis/health.js';
import type { CurrentWarning } from '../src/diagnosis/warning.js';
import type { Situation } from '../src/diagnosis/situation.js';
import { ago, counts, queue, server } from './situation.js';

describe('the headline of the overview', () => {
  const warning = (recoveringSince: Date | null, isMuted = false): CurrentWarning => ({
    kind: 'queue-lags',
    cause: 'c',
    text: ['It lags.'],
    advice: '',
    link: '',
    incident: null,
    recoveringSince,
    isRecovering: recoveringSince !== null,
    isMuted,
  });
  const headline = (warnings: CurrentWarning[], recent = { done: 0, failed: 0 }): string => {
    const situation = { queues: [queue()], servers: [server()], lost: [], recent } as unknown as Situation;
    return overallState(situation, warnings, counts).headline;
  };

  it('distinguishes warnings that recover or are muted from the others', () => {
    const [now, recovering, muted] = [warning(null), warning(ago(20)), warning(null, true)];
    expect(headline([now, now, recovering, muted])).to.equal('3 warnings, 1 of them recovering');
    expect(headline([recovering])).to.equal('1 recovering warning');
    expect(headline([now])).to.equal('1 warning');
    expect(headline([muted])).to.equal('1 muted warning');
  });

  it('counts the same warnings as other pages', () => {
    const [now, recovering, muted] = [warning(null), warning(ago(20)), warning(null, true)];
    expect(warningCount([now, now, recovering, muted])).to.equal('2 warnings');
    expect(warningCount([recovering, muted])).to.equal('1 recovering warning');
    expect(warningCount([muted])).to.equal('1 muted warning');
  });

  it('does not call a system idle between two short jobs', () => {
    expect(headline([], { done: 5, failed: 0 })).to.equal('All is well');
    expect(headline([])).to.equal('Idle');
  });
});
