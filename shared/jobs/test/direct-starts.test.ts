import { expect } from 'chai';
import { DirectStarts, type DirectStartsOptions } from '../src/server/direct-starts.js';
import type { ClaimedJob } from '../src/storage/index.js';

const serverId = 'server';

describe('Direct starts', () => {
  let taken: ClaimedJob[];
  let uncertain: string[];

  function starts(options: Partial<DirectStartsOptions> = {}): DirectStarts {
    return new DirectStarts({
      queues: ['mail'],
      concurrency: 2,
      leaseMs: 60_000,
      handles: (name) => name === 'send',
      serverId: () => serverId,
      isIdle: () => true,
      claimedCount: () => 0,
      take: (jobs) => taken.push(...jobs),
      onUncertain: (queue) => uncertain.push(queue),
      ...options,
    });
  }

  const claimed = (jobId: string): ClaimedJob => ({
    claim: { jobId, queue: 'mail', serverId, attempt: 1 },
    name: 'send',
    priority: 0,
    args: {},
    maxAttempts: 1,
    createdAt: new Date(0),
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
    expect(starts({ claimedCount: () => 1 }).reserve('mail', 'send', ['a', 'b'])).to.equal(null);
  });

  it('reserve no slot twice', () => {
    const both = starts();
    both.reserve('mail', 'send', ['a', 'b']);
    expect([both.reservedCount, both.reserve('mail', 'send', ['c'])]).to.deep.equal([2, null]);
  });

  it('free slots when the jobs start', () => {
    const both = starts();
    both.reserve('mail', 'send', ['a', 'b'])?.start([claimed('a'), claimed('b')]);
    expect([both.reservedCount, taken.map(({ claim }) => claim.jobId)]).to.deep.equal([0, ['a', 'b']]);
  });

  it('report the leases of reserved slots', () => {
    const both = starts();
    both.reserve('mail', 'send', ['a']);
    expect([...both.claims]).to.deep.equal([{ jobId: 'a', queue: 'mail', serverId, attempt: 1 }]);
  });

  it('run nothing if the server was declared dead during the insert', () => {
    let id = serverId;
    starts({ serverId: () => id })
      .reserve('mail', 'send', ['a'])
      ?.start([claimed('a')].map((job) => ((id = 'successor'), job)));
    expect(taken).to.deep.equal([]);
  });

  it('check the leases of a queue after an insert that failed', () => {
    const both = starts();
    both.reserve('mail', 'send', ['a'])?.fail();
    expect([both.reservedCount, uncertain]).to.deep.equal([0, ['mail']]);
  });

  const refusals: Record<string, Partial<DirectStartsOptions>> = {
    'in a queue that the server does not consume': { queues: ['other'] },
    'of a name that it does not handle': { handles: () => false },
    'while it is not registered': { serverId: () => null },
    'while other jobs may be ready': { isIdle: () => false },
  };
  for (const [when, options] of Object.entries(refusals))
    it(`do not take a job ${when}`, () => {
      expect(starts(options).reserve('mail', 'send', ['a'])).to.equal(null);
    });
});
