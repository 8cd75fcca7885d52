import { expect } from 'chai';
import { clockChanges, expectAgreement } from './support/clock-changes.js';

describe('A schedule in every time zone', () => {
  it('has the times that looking at the clock every minute finds, around each change from 2020 to 2030', () => {
    const changes = clockChanges(Intl.supportedValuesOf('timeZone'), 2020, 2031);
    expect(changes).to.have.length.above(500);
    for (const change of changes) expectAgreement(change);
  });
});
