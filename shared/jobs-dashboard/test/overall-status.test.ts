import { expect } from 'chai';
import { overallState, warningCount } from '../src/diagnosis/health.js';
import type { CurrentWarning } from '../src/diagnosis/health.js';
import type { Situation } from '../src/diagnosis/situation.js';
import { ago, counts, queue, server } from './situation.js';

describe('the headline of the overview', () => {
  const warning = (easedAt: Date | null): CurrentWarning => ({
    cause: 'c',
    text: ['It lags.'],
    advice: '',
    link: '',
    easedAt,
  });
  const headline = (warnings: CurrentWarning[], recent = { done: 0, failed: 0, common: null }): string => {
    const situation = { queues: [queue()], servers: [server()], lost: [], recent } as unknown as Situation;
    return overallState(situation, warnings, counts).headline;
  };

  it('distinguishes warnings that have eased from those that need attention', () => {
    const [now, eased] = [warning(null), warning(ago(20))];
    expect(headline([now, now, eased])).to.equal('2 issues need attention, 1 has eased');
    expect(headline([now, eased, eased])).to.equal('1 issue needs attention, 2 have eased');
    expect(headline([eased])).to.equal('1 issue has eased');
    expect(headline([now])).to.equal('1 issue needs attention');
  });

  it('counts the same warnings as other pages', () => {
    const [now, eased] = [warning(null), warning(ago(20))];
    expect(warningCount([now, now, eased])).to.equal('2 warnings');
    expect(warningCount([eased])).to.equal('1 eased warning');
  });

  it('does not call a system idle between two short jobs', () => {
    expect(headline([], { done: 5, failed: 0, common: null })).to.equal('All is well');
    expect(headline([])).to.equal('Idle');
  });
});
