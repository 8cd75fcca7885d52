import type { BriefJob } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { failingRecurringWarnings, judge } from '../src/diagnosis/recurring.js';
import { ago, failure, read, recurring } from './situation.js';

type Run = Pick<BriefJob, 'state' | 'error' | 'finishedAt'>;

describe('a recurring job that fails', () => {
  const nightly = recurring({ lastDueAt: ago(3_600), nextDueAt: ago(-82_800) });
  /** Creates runs from letters, latest run first: `f` for a failed run, `d` for a successful run. */
  const runs = (text: string): Run[] =>
    Array.from(text, (letter, index) => ({
      state: letter === 'f' ? 'failed' : 'done',
      error: letter === 'f' ? failure : null,
      finishedAt: ago(3_600 * (index + 1)),
    }));
  const warningOf = (text: string, job = nightly): string | undefined => {
    const failing = judge(job, runs(text));
    const [warning] = failingRecurringWarnings(failing === null ? [] : [failing], new Set());
    return warning === undefined ? undefined : read([...warning.text, ' ', warning.advice].flat());
  };

  it('is reported with its last failure and what is usual for it', () => {
    expect(warningOf('fdddd')).to.equal(
      'Recurring job “nightly” is failing: its last run failed 1 h ago with TypeError: x. The 4 runs before that succeeded.',
    );
    expect(warningOf('ffdfdd')).to.include('its last 2 runs failed, the latest 1 h ago');
    expect(warningOf('fff')).to.include('None of its stored runs has succeeded.');
  });

  it('is not reported if it often fails', () => {
    expect(warningOf('fdfdfd')).to.equal(undefined);
  });

  it('is not reported once a run has succeeded', () => {
    expect(warningOf('dffff')).to.equal(undefined);
  });

  it('is reported after two failures if it runs every minute', () => {
    const minutely = recurring({ lastDueAt: ago(30), nextDueAt: ago(-30) });
    expect(warningOf('fddd', minutely)).to.equal(undefined);
    expect(warningOf('ffdd', minutely)).to.include('its last 2 runs failed');
  });
});
