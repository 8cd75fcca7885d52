import { type Job, MemoryStorage, type RecurringJob } from '@longshore/jobs';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { noBlockingKeys } from '../src/diagnosis/blocking-keys.js';
import { findLate } from '../src/diagnosis/recurring.js';
import type { Situation } from '../src/diagnosis/situation.js';
import { findWarnings } from '../src/diagnosis/warnings.js';
import {
  ago,
  counts,
  job,
  lease,
  lostServer,
  nowMs,
  queue,
  read,
  recurring,
  server,
  setAside,
} from './situation.js';

describe('the warnings', () => {
  const situation = (members: Partial<Situation>): Situation => ({
    queues: [queue()],
    servers: [server()],
    longestRunning: [],
    orphans: [],
    stalled: [],
    lost: [],
    late: [],
    setAside: [],
    alertFailures: [],
    pendingDeletions: [],
    skipped: [],
    clockAheadMs: 0,
    recent: { done: 0, failed: 0 },
    typeHealth: { failing: [], slow: [] },
    rules: [],
    holdingLimit: null,
    failureSamples: new Map(),
    failingRecurring: [],
    missed: [],
    blocking: noBlockingKeys,
    pausedJobs: [],
    nowMs,
    ...members,
  });
  const waiting = { ...counts, enqueued: 2 };

  for (const [what, situationAs, words] of [
    ['no server', situation({ servers: [] }), 'No server is running'],
    [
      'a queue without a server',
      situation({ queues: [queue({ servers: 0, counts: waiting })] }),
      'No server consumes queue “q”',
    ],
    [
      'a queue without a server for its scheduled jobs',
      situation({ queues: [queue({ servers: 0, counts: { ...counts, scheduled: 1 } })] }),
      'No server consumes',
    ],
    [
      'a paused queue with jobs, once',
      situation({
        queues: [queue({ pausedAt: ago(600), oldestEnqueuedAt: ago(600), counts: waiting })],
      }),
      'Queue “q” was paused 10 min ago',
    ],
    [
      'a job that background work set aside',
      situation({ setAside: [setAside()] }),
      'A scheduled job could not be made ready: poisoned. It was set aside 10 min ago',
    ],
    [
      'jobs that nobody handles',
      situation({ orphans: [{ queue: 'q', name: 'typo', jobs: 2, reason: 'no-handler' }] }),
      'No server of queue “q” has a handler for “typo”',
    ],
    [
      'a stalled lease',
      situation({ stalled: [lease({ expiresAt: ago(80) })] }),
      '1 job stalled: a server that is alive has stopped renewing its lease, which expired 1 min ago',
    ],
    [
      'leases of two servers that stalled',
      situation({
        stalled: [lease({ expiresAt: ago(80) }), lease({ expiresAt: ago(9), serverId: 's2' })],
      }),
      '2 jobs stalled: 2 servers that are alive have stopped renewing their leases, the first of which expired 1 min ago',
    ],
    [
      'a silent server',
      situation({ servers: [server({ heartbeatAt: ago(16) })] }),
      'is silent: last heartbeat 16 s ago',
    ],
    [
      'a job without its server',
      situation({ longestRunning: [job({ state: 'processing', serverId: 'gone', startedAt: ago(60) })] }),
      'on a server that is gone',
    ],
    [
      'a long wait',
      situation({
        queues: [queue({ oldestEnqueuedAt: ago(301), counts: waiting })],
        servers: [server({ processing: 2 })],
      }),
      'Queue “q” lags: its oldest job has been ready for 5 min 1 s, but all 2 slots are busy',
    ],
    [
      'jobs that nothing keeps from running',
      situation({ queues: [queue({ oldestEnqueuedAt: ago(40), counts: waiting })] }),
      'Queue “q” is stalled: its oldest job has been ready for 40 s, although 1 of 2 slots is free',
    ],
    [
      'a dashboard whose clock is ahead',
      situation({ clockAheadMs: 9_000 }),
      'The clock of this dashboard is 9.0 s ahead of the storage’s clock',
    ],
    [
      'a dashboard whose clock is behind',
      situation({ clockAheadMs: -70_000 }),
      'The clock of this dashboard is 1 min 10 s behind the storage’s clock',
    ],
    [
      'a server whose clock is ahead',
      situation({ servers: [server({ clockAheadMs: 6_000 })] }),
      'The clock of server host, process 7, is 6.0 s ahead of the storage’s clock',
    ],
    [
      'a server whose clock is behind',
      situation({ servers: [server({ clockAheadMs: -6_000 })] }),
      'The clock of server host, process 7, is 6.0 s behind the storage’s clock',
    ],
    [
      'a recurring job that is late',
      situation({ late: [recurring()] }),
      'Recurring job “nightly” is late: it was due 1 min ago, and no server has enqueued it',
    ],
    [
      'recurring jobs that are late',
      situation({ late: [recurring(), recurring({ id: 'other' })] }),
      '2 recurring jobs are late: the first was due 1 min ago',
    ],
    [
      'a server that died',
      situation({ lost: [lostServer()] }),
      'Server host, process 6, was declared dead 1 min ago: last heartbeat 1 min ago',
    ],
  ] as const) {
    it(`report ${what}`, () => {
      const texts = findWarnings(situationAs).map(({ text }) => read(text));
      expect(texts).to.have.lengthOf(1);
      expect(texts[0]).to.include(words);
    });
  }

  it('report both that a queue is paused and that it has no server', () => {
    const paused = queue({ pausedAt: ago(600), servers: 0, oldestEnqueuedAt: ago(600), counts: waiting });
    const causes = findWarnings(situation({ queues: [paused] })).map(({ cause }) => cause);
    expect(causes).to.deep.equal(['queue q is paused', 'no server consumes queue q']);
  });

  it('report a recurring job as late a minute after it was due, unless it is paused or waits for its last job', async () => {
    const due = (members: Partial<RecurringJob>, lastState: Job['state'] = 'done'): Promise<RecurringJob[]> =>
      findLate([recurring(members)], nowMs, {
        jobs: overriding(new MemoryStorage().jobs, {
          findMany: async () => [job({ id: 'last', state: lastState })],
        }),
      });
    expect(await due({})).to.have.lengthOf(1);
    expect(await due({ nextDueAt: ago(59) })).to.deep.equal([]);
    expect(await due({ nextDueAt: null })).to.deep.equal([]);
    expect(await due({ pausedAt: ago(100) })).to.deep.equal([]);
    const waits = { overlap: 'wait', lastJobId: 'last' } as const;
    expect(await due(waits, 'processing')).to.deep.equal([]);
    expect(await due(waits, 'done')).to.have.lengthOf(1);
    expect(await due({ lastJobId: 'last' }, 'processing')).to.have.lengthOf(1);
  });

  it('link to the stalled job, or to the jobs of its server', () => {
    const [one] = findWarnings(situation({ stalled: [lease({})] }));
    const [both] = findWarnings(situation({ stalled: [lease({}), lease({})] }));
    expect(one?.link).to.equal(`jobs/${lease({}).jobId}`);
    expect(both?.link).to.equal('jobs?state=processing&order=oldest&server=s1');
  });

  for (const [what, situationAs] of [
    [
      'clocks that nearly agree',
      situation({ clockAheadMs: -4_999, servers: [server({ clockAheadMs: 4_999 })] }),
    ],
    ['a clock that was not measured yet', situation({ servers: [server({ clockAheadMs: null })] })],
    [
      'a server that died and was restarted',
      situation({ lost: [lostServer()], servers: [server({ startedAt: ago(80) })] }),
    ],
    ['a server that died long ago', situation({ lost: [lostServer({ lostAt: ago(901) })] })],
    [
      'a queue that is worked on',
      situation({
        queues: [queue({ oldestEnqueuedAt: ago(200), counts: { ...counts, enqueued: 9, processing: 1 } })],
      }),
    ],
    ['an ordinary day', situation({ queues: [queue({ oldestEnqueuedAt: ago(2), counts: waiting })] })],
    [
      'a queue without a server and without jobs',
      situation({ queues: [queue({ servers: 0, counts: { ...counts, done: 9 } })] }),
    ],
    [
      'a job that has just been claimed',
      situation({ longestRunning: [job({ state: 'processing', serverId: 'new', startedAt: ago(1) })] }),
    ],
  ] as const) {
    it(`do not report ${what}`, () => {
      expect(findWarnings(situationAs)).to.deep.equal([]);
    });
  }
});
