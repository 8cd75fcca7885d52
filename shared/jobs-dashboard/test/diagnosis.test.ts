import { expect } from 'chai';
import { explain, type ExplanationContext } from '../src/diagnosis/explanation.js';
import { ago, attempt, failure, job, lease, nowMs, queue, read, server } from './situation.js';

describe('the explanation of a job’s state', () => {
  const contextWith = (members: Partial<ExplanationContext> = {}): ExplanationContext => ({
    attempts: [],
    servers: [server()],
    queue: queue(),
    nowMs,
    ...members,
  });

  for (const [what, subject, context, words] of [
    [
      'that no server takes',
      job({}),
      contextWith({ servers: [server({ queues: ['other'] })] }),
      'no running server takes jobs from queue “q”',
    ],
    [
      'that waits for a slot',
      job({}),
      contextWith({ servers: [server({ processing: 2 })] }),
      'all 2 slots are busy',
    ],
    [
      'whose queue is paused',
      job({}),
      contextWith({ queue: queue({ pausedAt: ago(60) }) }),
      'queue “q” was paused 1 min ago',
    ],
    ['that could start', job({}), contextWith(), '1 slot free'],
    ['for later', job({ state: 'scheduled', runAt: ago(-60) }), contextWith(), 'becomes ready in 1 min'],
    [
      'that is due',
      job({ state: 'scheduled', runAt: ago(1) }),
      contextWith(),
      'becomes ready any moment now',
    ],
    [
      'for later that no server would take',
      job({ state: 'scheduled', runAt: ago(-60) }),
      contextWith({ servers: [] }),
      'No running server takes jobs from queue “q”',
    ],
    [
      'that will be retried',
      job({ state: 'scheduled', attempt: 1, runAt: ago(-5) }),
      contextWith({ attempts: [attempt({ outcome: 'failed', error: failure })] }),
      'Attempt 1 of 3 failed. The next one',
    ],
    [
      'that runs',
      job({ state: 'processing', attempt: 1, serverId: 's1', startedAt: ago(12) }),
      contextWith(),
      'running on host, process 7 for 12 s (attempt 1 of 3)',
    ],
    [
      'whose lease ran out on a living server',
      job({ state: 'processing', attempt: 1, serverId: 's1', startedAt: ago(12) }),
      contextWith({ lease: lease({ expiresAt: ago(20) }) }),
      'has stopped renewing the lease, which expired 20 s ago',
    ],
    [
      'whose lease ran out while its handler holds it',
      job({ state: 'processing', attempt: 1, serverId: 's1', startedAt: ago(12) }),
      contextWith({ lease: lease({ expiresAt: ago(20), locked: true }) }),
      'The server is alive',
    ],
    [
      'whose server is gone',
      job({ state: 'processing', attempt: 1, serverId: 's2' }),
      contextWith(),
      'runs again on another server',
    ],
    [
      'whose server is gone for its last attempt',
      job({ state: 'processing', attempt: 3, serverId: 's2' }),
      contextWith(),
      'fails, as this was its last attempt',
    ],
    [
      'whose server is silent',
      job({ state: 'processing', attempt: 1, serverId: 's1' }),
      contextWith({ servers: [server({ heartbeatAt: ago(20) })] }),
      'is silent: last heartbeat 20 s ago',
    ],
    [
      'that is done',
      job({ state: 'done', attempt: 1, finishedAt: ago(80) }),
      contextWith({ attempts: [attempt({ outcome: 'done', finishedAt: ago(80) })] }),
      '10 s of work after 10 s of waiting',
    ],
    [
      'that used up its attempts',
      job({ state: 'failed', attempt: 3, error: failure }),
      contextWith(),
      'It is not retried automatically: all 3 attempts are used up.',
    ],
    [
      'that had one attempt',
      job({ state: 'failed', attempt: 1, maxAttempts: 1, error: failure }),
      contextWith(),
      'It is not retried automatically: its only attempt is used up.',
    ],
    [
      'that gave up',
      job({ state: 'failed', attempt: 1, error: failure }),
      contextWith(),
      'It is not retried automatically: it gave up at attempt 1 of 3.',
    ],
    [
      'whose last attempt was lost',
      job({ state: 'failed', attempt: 3 }),
      contextWith({ attempts: [attempt({ outcome: 'lost', error: failure })] }),
      'all 3 attempts are used up; the last one was lost with its server.',
    ],
    ['that awaits another', job({ state: 'awaiting' }), contextWith(), 'waits for another job'],
    ['that was cancelled', job({ state: 'cancelled' }), contextWith(), 'was cancelled'],
  ] as const) {
    it(`${what} says: ${words}`, () => {
      expect(read(explain(subject, context).text)).to.include(words);
    });
  }

  it('asks for attention only if a job does not continue by itself', () => {
    expect(explain(job({}), contextWith()).tone).to.equal('calm');
    expect(explain(job({}), contextWith({ servers: [] })).tone).to.equal('attention');
    expect(explain(job({ state: 'failed' }), contextWith()).tone).to.equal('attention');
  });
});
