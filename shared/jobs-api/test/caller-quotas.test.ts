import { MemoryStorage } from '@longshore/jobs';
import { turnsDuring } from '@longshore/test-support';
import { CallerQuotas } from '../src/quotas.js';
import { expect } from 'chai';

describe('The quotas of callers', () => {
  it('let other requests in while the due times of rare schedules are compared', async () => {
    const quotas = new CallerQuotas(new MemoryStorage());
    const zones = Intl.supportedValuesOf('timeZone').slice(0, 100);
    const turns = await turnsDuring(() =>
      Promise.all(zones.map((timeZone) => quotas.checkSchedule({ cron: '0 0 */24 * 2 1#5', timeZone }))),
    );
    expect(turns).to.be.at.least(5);
  });
});
