import { expect } from 'chai';
import { WarningWatch } from '../src/diagnosis/health.js';
import type { Warning } from '../src/diagnosis/warning.js';
import { plainText, sentence } from '../src/format/sentence.js';

describe('the end of a warning', () => {
  const warning = (members: Partial<Warning> = {}): Warning => ({
    cause: 'jobs of queue q wait',
    isMeasured: true,
    text: sentence`Queue “q” lags.`,
    advice: 'Add servers.',
    link: 'queues/q',
    ...members,
  });
  const causes = (watch: WarningWatch, observed: Warning[], nowMs: number): string[] =>
    watch
      .judge(observed, nowMs)
      .map(({ cause, easedAt }) => `${cause}${easedAt === null ? '' : ` ${+easedAt}`}`);

  it('comes when a measured condition has been absent for two minutes', () => {
    const watch = new WarningWatch();
    expect(causes(watch, [warning()], 0)).to.deep.equal(['jobs of queue q wait']);
    expect(causes(watch, [], 60_000)).to.deep.equal(['jobs of queue q wait 0']);
    expect(causes(watch, [warning()], 100_000)).to.deep.equal(['jobs of queue q wait']);
    expect(causes(watch, [], 219_000)).to.deep.equal(['jobs of queue q wait 100000']);
    expect(causes(watch, [], 220_000)).to.deep.equal([]);
  });

  it('is preceded by how long the condition lasted, not by how long ago it began', () => {
    const watch = new WarningWatch();
    const text = sentence`Queue “q” lags: its oldest job has been ready for ${{ since: new Date(0) }}.`;
    watch.judge([warning({ text })], 300_000);
    const [eased] = watch.judge([], 360_000);
    expect(eased && plainText(eased.text, 360_000)).to.equal(
      'Queue “q” lags: its oldest job has been ready for 5 min.',
    );
  });

  it('comes at once for a stored fact', () => {
    const watch = new WarningWatch();
    const { isMeasured: _measured, ...fact } = warning();
    watch.judge([fact], 0);
    expect(causes(watch, [], 1)).to.deep.equal([]);
  });

  it('comes at once if something else is wrong with the same thing, on another page', () => {
    const watch = new WarningWatch();
    watch.judge([warning({ cause: 'server 7 is silent', subject: 'server 7', link: 'servers/7' })], 0);
    const died = { cause: 'server 7 died', subject: 'server 7', link: 'servers' };
    expect(causes(watch, [warning(died)], 1)).to.deep.equal(['server 7 died']);
  });

  it('comes at once if the same queue has a warning for another reason', () => {
    const watch = new WarningWatch();
    watch.judge([warning()], 0);
    expect(causes(watch, [warning({ cause: 'queue q is paused' })], 1)).to.deep.equal(['queue q is paused']);
  });
});
