import { expect } from 'chai';
import { MemoryStorage } from '../src/index.js';
import { DirectStarts } from '../src/server/direct-starts.js';
import { Holdings } from '../src/server/holdings.js';
import { silentLogger } from '../src/server/logger.js';
import { resolveServerOptions } from '../src/server/server-options.js';
import type { ClaimedJob } from '../src/storage.js';

const serverId = 'server';

describe('Direct starts', () => {
  let taken: ClaimedJob[];
  let uncertain: string[];
  let holdings: Holdings;

  function starts({
    handles = true,
    isIdle = true,
    queues = ['mail'] as readonly string[],
  } = {}): DirectStarts {
    const storage = new MemoryStorage();
    holdings = new Holdings(storage.claims, silentLogger);
    holdings.serverId = serverId;
    return new DirectStarts({
      ...resolveServerOptions({ storage, handlers: [], queues, concurrency: 2 }),
      slidingInvisibilityTimeoutMs: 60_000,
      holdings,
      runner: { handles: () => handles, take: (jobs) => taken.push(...jobs) },
      fetcher: { isIdle, isStopped: false, uncertain: (queue) => uncertain.push(queue) },
    });
  }

  const claimed = (jobId: string): ClaimedJob => ({
    claim: { jobId, queue: 'mail', serverId, attempt: 1 },
    name: 'send',
    priority: 0,
    args: {},
    maxAttempts: 1,
    createdAt: new Date(0),
    dueAt: new Date(0),
    readyAt: new Date(0),
    meta: null,
  });

  beforeEach(() => {
    taken = [];
    uncertain = [];
  });

  it('reserve slots with the server and its lease', () => {
    expect(starts().reserve('mail', 'send', ['a'])).to.include({ serverId, leaseMs: 60_000 });
  });

  it('reserve no more slots than are free', () => {
    const both = starts();
    holdings.waiting.push({ job: claimed('earlier'), takenAt: 0 });
    expect(both.reserve('mail', 'send', ['a', 'b'])).to.equal(null);
  });

  it('reserve no slot twice', () => {
    const both = starts();
    both.reserve('mail', 'send', ['a', 'b']);
    expect([holdings.reserved.size, both.reserve('mail', 'send', ['c'])]).to.deep.equal([2, null]);
  });

  it('free slots when the jobs start', () => {
    const both = starts();
    both.reserve('mail', 'send', ['a', 'b'])?.start([claimed('a'), claimed('b')]);
    expect([holdings.reserved.size, taken.map(({ claim }) => claim.jobId)]).to.deep.equal([0, ['a', 'b']]);
  });

  it('report the leases of reserved slots', () => {
    const both = starts();
    both.reserve('mail', 'send', ['a']);
    expect([...holdings.reserved.values()]).to.deep.equal([
      { jobId: 'a', queue: 'mail', serverId, attempt: 1 },
    ]);
  });

  it('run nothing if the server was declared dead during the insert', () => {
    const reserved = starts().reserve('mail', 'send', ['a']);
    holdings.serverId = 'successor';
    reserved?.start([claimed('a')]);
    expect(taken).to.deep.equal([]);
  });

  it('check the leases of a queue after an insert that failed', () => {
    const both = starts();
    both.reserve('mail', 'send', ['a'])?.fail();
    expect([holdings.reserved.size, uncertain]).to.deep.equal([0, ['mail']]);
  });

  for (const [when, options] of [
    ['in a queue that the server does not consume', { queues: ['other'] }],
    ['of a name that it does not handle', { handles: false }],
    ['while other jobs may be ready', { isIdle: false }],
  ] as const)
    it(`do not take a job ${when}`, () => {
      expect(starts(options).reserve('mail', 'send', ['a'])).to.equal(null);
    });

  it('do not take a job while the server is not registered', () => {
    const both = starts();
    holdings.serverId = null;
    expect(both.reserve('mail', 'send', ['a'])).to.equal(null);
  });
});
