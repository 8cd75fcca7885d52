import { expect } from 'chai';
import { ManualClock } from '@longshore/test-support';
import { defineJob, JobClient, MemoryStorage } from '../src/index.js';

describe('The end of a pause in memory', () => {
  it('does not take effect if its audit entry cannot be written', async () => {
    const clock = new ManualClock();
    const storage = new MemoryStorage({ clock });
    const definition = defineJob({ name: 'work' });
    await new JobClient(storage).recurring.addOrUpdate({ id: 'nightly', definition, cron: '0 0 * * *' });
    const until = new Date(clock.now() + 1_000);
    await storage.recurring.pause('nightly', { until });
    clock.advance(1_000);
    storage.audit.add = () => {
      throw new Error('The audit log is full');
    };
    expect(await storage.maintenance.resumeDue()).to.include({ resumed: 0 });
    expect((await storage.recurring.find('nightly'))?.pausedUntil).to.deep.equal(until);
    const [item] = await storage.setAside.list({ limit: 1 });
    expect(item?.error.message).to.equal('The audit log is full');
  });
});
