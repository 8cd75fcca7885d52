import { type Alert, alertEndsAfterMs, alertRetryMs, diffAlerts } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { MemoryStorage } from '../src/index.js';

const now = new Date('2026-03-01T12:00:00Z');
const warning = { key: 'k', text: 'It is wrong.', advice: 'Mend it.', link: '' };
const alert = (unseenMs: number, own: Partial<Alert> = {}): Alert => ({
  ...warning,
  since: new Date(0),
  seenAt: new Date(now.getTime() - unseenMs),
  announced: true,
  ...own,
});
const types = (alerts: Alert[], warnings = [warning]) =>
  diffAlerts(alerts, warnings, now).messages.map(({ type }) => type);

describe('changes of alerts', () => {
  it('announce the end of a warning that has not been seen for two minutes, but not sooner', () => {
    expect(types([alert(alertEndsAfterMs - 1)], [])).to.deep.equal([]);
    expect(types([alert(alertEndsAfterMs)], [])).to.deep.equal(['warning.ended']);
  });

  it('announce nothing of a warning that comes back in time', () => {
    expect(types([alert(alertEndsAfterMs - 1)])).to.deep.equal([]);
  });

  it('do not announce the end of a warning whose beginning was not announced by itself', () => {
    const { ended, messages } = diffAlerts([alert(alertEndsAfterMs, { announced: false })], [], now);
    expect([ended.length, messages.length]).to.deep.equal([1, 0]);
  });

  it('retry a message at growing intervals, and give it up after a day', () => {
    expect([1, 2, 3, 10].map((attempts) => alertRetryMs(attempts, 0))).to.deep.equal([
      5_000, 20_000, 80_000, 1_800_000,
    ]);
    expect(alertRetryMs(50, 86_400_000)).to.equal(null);
  });
});

describe('alerts in memory', () => {
  it('are delivered before retries, which those to a dead webhook would otherwise make late', async () => {
    let nowMs = now.getTime();
    const { alerts } = new MemoryStorage({ clock: { now: () => nowMs } });
    await alerts.observe([warning], ['dead']);
    const [first] = await alerts.take(['dead'], 1, 1_000);
    if (first === undefined) throw new Error('No message was taken');
    await alerts.failed(first, 'No answer');
    nowMs += 10_000;
    await alerts.observe([warning, { ...warning, key: 'new' }], ['alive']);
    expect(await alerts.take(['alive', 'dead'], 1, 1_000)).to.have.nested.property('[0].target', 'alive');
    expect(await alerts.take(['alive', 'dead'], 1, 1_000)).to.have.nested.property('[0].target', 'dead');
  });
});
