import type { ErrorGroup } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { newErrorWarnings } from '../src/diagnosis/failures.js';
import type { FailingType } from '../src/diagnosis/type-health.js';
import { ago, nowMs, read } from './situation.js';

const period = { from: nowMs - 600_000, until: nowMs, hits: 30, of: 60 };

function failing(errors: readonly Partial<ErrorGroup>[], state: FailingType['shift']['state'] = 'above') {
  const type: FailingType = {
    name: 'charge-card',
    isOfQueue: false,
    course: [],
    shift: {
      state,
      beganAt: nowMs - 600_000,
      beganBetween: null,
      incident: period,
      now: period,
      baseline: null,
      lastAt: nowMs,
    },
    errors: errors.map((error) => ({
      name: 'charge-card',
      fingerprint: 'HttpError: upstream said *',
      count: 12,
      retryable: 12,
      failedExact: true,
      waitingExact: true,
      course: [],
      firstSeenAt: ago(120),
      lastSeenAt: ago(1),
      message: 'upstream said 503',
      exampleId: '1',
      ...error,
    })),
  };
  return newErrorWarnings([type]);
}

describe('a new error of a job type that fails', () => {
  it('has a warning of its own, so that muting the others does not hide it', () => {
    const [warning, ...others] = failing([{}]);
    expect(others).to.deep.equal([]);
    expect(warning?.cause).to.equal('job type charge-card has the new error HttpError: upstream said *');
    expect(read(warning?.text ?? [])).to.match(
      /^Job type “charge-card” also fails with a new error since .+: HttpError: upstream said 503\.$/,
    );
    expect(warning?.figure).to.deep.equal({ value: ['12'], label: 'jobs' });
  });

  it('is not reported if it began together with the failures, or was known before', () => {
    expect(failing([{ firstSeenAt: ago(600 - 180) }, { firstSeenAt: ago(86_400) }])).to.deep.equal([]);
    expect(failing([{ firstSeenAt: ago(600 - 181) }])).to.have.length(1);
  });

  it('is not reported for fewer than five jobs, or once the type has stopped', () => {
    expect(failing([{ count: 4 }])).to.deep.equal([]);
    expect(failing([{}], 'stopped')).to.deep.equal([]);
  });
});
