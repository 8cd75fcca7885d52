import { MemoryStorage } from '@longshore/jobs';
import { errorKindsKept, newId } from '@longshore/jobs/storage';
import { ManualClock } from '@longshore/test-support';
import { expect } from 'chai';
import { MemoryFirstFailures } from '../src/memory/memory-first-failures.js';

const error = { name: 'Error', message: 'No ship 17', stack: null };

describe('the first failures in memory', () => {
  it('keep their time when their job is deleted', async () => {
    const clock = new ManualClock();
    const storage = new MemoryStorage({ clock });
    const { id: serverId } = await storage.servers.register({
      host: 'host',
      pid: 1,
      queues: ['q'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const fail = async (): Promise<string> => {
      const id = newId(clock.now());
      await storage.enqueuer.enqueue([
        { id, name: 'send', queue: 'q', priority: 0, args: '{}', maxAttempts: 1, due: null },
      ]);
      const claimed = await storage.claims.claim({ serverId, queue: 'q', limit: 1, leaseMs: 60_000 });
      const outcome = { kind: 'failed', error } as const;
      await storage.completions.complete(claimed.map(({ claim }) => ({ claim, outcome })));
      return id;
    };
    const first = await fail();
    const at = new Date(clock.now());
    clock.advance(60_000);
    await fail();
    await storage.control.delete(first);
    const { groups } = await storage.statistics.listErrorGroups({ sinceMs: 3_600_000 });
    expect(groups.map(({ count, firstSeenAt }) => [count, firstSeenAt])).to.deep.equal([[1, at]]);
  });

  it('are forgotten if there are too many kinds, or after a long time', () => {
    const failures = new MemoryFirstFailures();
    const kind = (name: string) => ({ name, fingerprint: 'Error: No ship <n>' });
    const start = Date.parse('2026-03-01');
    failures.note('first', error, new Date(start));
    for (let n = 1; n < errorKindsKept.max; n += 1) failures.note(`name-${n}`, error, new Date(start + n));
    expect(failures.find(kind('first'))).not.to.equal(undefined);
    failures.note('one-too-many', error, new Date(start + errorKindsKept.max));
    expect(failures.find(kind('first'))).to.equal(undefined);
    failures.note('late', error, new Date(start + (errorKindsKept.days + 1) * 86_400_000));
    expect(failures.find(kind('name-2'))).to.equal(undefined);
  });
});
