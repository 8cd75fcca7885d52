import { expect } from 'chai';
import type { ClaimedJob } from '../src/job/job.js';
import { silentLogger } from '../src/server/logger.js';
import { NewerVersions } from '../src/server/newer-versions.js';

const startMs = Date.UTC(2026, 0, 1);

function claimed(createdMs: number): ClaimedJob {
  const at = new Date(createdMs);
  const claim = { jobId: '0', queue: 'mail', serverId: '1', attempt: 1 };
  const times = { createdAt: at, dueAt: at, readyAt: at };
  return { claim, name: 'send-mail', priority: 0, args: {}, maxAttempts: 1, meta: { version: 2 }, ...times };
}

describe('Jobs of a newer version than the server has', () => {
  let nowMs = startMs;
  let newer: NewerVersions;

  beforeEach(() => {
    nowMs = startMs;
    newer = new NewerVersions(silentLogger, { now: () => nowMs });
  });

  it('are put off for two to four seconds at first, however long others have waited', () => {
    newer.putOff(claimed(startMs), 2, 1);
    nowMs += 60_000;
    for (let count = 0; count < 100; count++)
      expect(newer.putOff(claimed(nowMs), 2, 1))
        .to.have.property('delayMs')
        .within(2_000, 4_000);
  });

  it('are put off for up to a minute once they have waited for a minute', () => {
    newer.putOff(claimed(startMs), 2, 1);
    nowMs += 60_000;
    for (let count = 0; count < 100; count++)
      expect(newer.putOff(claimed(startMs), 2, 1))
        .to.have.property('delayMs')
        .within(30_000, 60_000);
  });

  it('make the server claim later than others from their queue, until none has come for two minutes', () => {
    expect(newer.yieldsMs('mail')).to.equal(0);
    newer.putOff(claimed(startMs), 2, 1);
    expect(newer.yieldsMs('mail')).to.be.greaterThan(0);
    expect(newer.yieldsMs('other')).to.equal(0);
    nowMs += 120_001;
    expect(newer.yieldsMs('mail')).to.equal(0);
  });
});
