import { expect } from 'chai';
import { explain, type Surroundings } from '../src/diagnosis/explanation.js';
import { findWarnings, type Situation } from '../src/diagnosis/warnings.js';
import { ago, attempt, counts, failure, job, nowMs, queue, server, read } from './situation.js';

describe('the sentence about a job', () => {
  const around = (own: Partial<Surroundings> = {}): Surroundings => ({
    attempts: [],
    servers: [server()],
    queue: queue(),
    nowMs,
    ...own,
  });

  for (const [what, subject, surroundings, words] of [
    [
      'that no server takes',
      job({}),
      around({ servers: [server({ queues: ['other'] })] }),
      'no running server takes jobs from queue “q”',
    ],
    [
      'that waits for a slot',
      job({}),
      around({ servers: [server({ processing: 2 })] }),
      'all 2 slots are busy',
    ],
    [
      'whose queue is paused',
      job({}),
      around({ queue: queue({ pausedAt: ago(60) }) }),
      'queue “q” has been paused for 1 min',
    ],
    ['that could start', job({}), around(), '1 slot free'],
    ['for later', job({ state: 'scheduled', runAt: ago(-60) }), around(), 'becomes ready in 1 min'],
    ['that is due', job({ state: 'scheduled', runAt: ago(1) }), around(), 'becomes ready any moment now'],
    [
      'for later that no server would take',
      job({ state: 'scheduled', runAt: ago(-60) }),
      around({ servers: [] }),
      'No running server takes jobs from queue “q”',
    ],
    [
      'that will be retried',
      job({ state: 'scheduled', attempt: 1, runAt: ago(-5) }),
      around({ attempts: [attempt({ outcome: 'failed', error: failure })] }),
      'Attempt 1 of 3 ended with TypeError',
    ],
    [
      'that runs',
      job({ state: 'processing', attempt: 1, serverId: 's1', startedAt: ago(12) }),
      around(),
      'running on host, process 7 for 12 s (attempt 1 of 3)',
    ],
    [
      'whose server is gone',
      job({ state: 'processing', attempt: 1, serverId: 's2' }),
      around(),
      'runs again on another server',
    ],
    [
      'whose server is gone for its last attempt',
      job({ state: 'processing', attempt: 3, serverId: 's2' }),
      around(),
      'fails, as this was its last attempt',
    ],
    [
      'whose server is silent',
      job({ state: 'processing', attempt: 1, serverId: 's1' }),
      around({ servers: [server({ heartbeatAt: ago(20) })] }),
      'sent no heartbeat for 20 s',
    ],
    [
      'that is done',
      job({ state: 'done', attempt: 1, finishedAt: ago(80) }),
      around({ attempts: [attempt({ outcome: 'done', finishedAt: ago(80) })] }),
      '10 s of work after 10 s of waiting',
    ],
    [
      'that used up its attempts',
      job({ state: 'failed', attempt: 3, error: failure }),
      around(),
      'All 3 attempts are used up; the last one ended with TypeError',
    ],
    [
      'that gave up',
      job({ state: 'failed', attempt: 1, error: failure }),
      around(),
      'gave up at attempt 1 of 3',
    ],
    [
      'whose last attempt was lost',
      job({ state: 'failed', attempt: 3 }),
      around({ attempts: [attempt({ outcome: 'lost', error: failure })] }),
      'was lost with its server',
    ],
    ['that awaits another', job({ state: 'awaiting' }), around(), 'waits for another job'],
    ['that was cancelled', job({ state: 'cancelled' }), around(), 'was cancelled'],
  ] as const) {
    it(`${what} says: ${words}`, () => {
      expect(read(explain(subject, surroundings).text)).to.include(words);
    });
  }

  it('asks for attention only where a job does not go on by itself', () => {
    expect(explain(job({}), around()).tone).to.equal('calm');
    expect(explain(job({}), around({ servers: [] })).tone).to.equal('attention');
    expect(explain(job({ state: 'failed' }), around()).tone).to.equal('attention');
  });
});

describe('the warnings', () => {
  const situation = (own: Partial<Situation>): Situation => ({
    queues: [queue()],
    servers: [server()],
    longestRunning: [],
    orphans: [],
    nowMs,
    ...own,
  });
  const waiting = { ...counts, enqueued: 2 };

  for (const [what, given, words] of [
    ['no server', situation({ servers: [] }), 'No server is running'],
    [
      'a queue without a server',
      situation({ queues: [queue({ servers: 0, counts: waiting })] }),
      'No server takes jobs from queue “q”',
    ],
    [
      'a queue without a server for its scheduled jobs',
      situation({ queues: [queue({ servers: 0, counts: { ...counts, scheduled: 1 } })] }),
      'No server takes jobs',
    ],
    [
      'a paused queue with jobs, once',
      situation({
        queues: [queue({ pausedAt: ago(600), servers: 0, oldestEnqueuedAt: ago(600), counts: waiting })],
      }),
      'Queue “q” has been paused for 10 min',
    ],
    [
      'jobs that nobody handles',
      situation({ orphans: [{ queue: 'q', name: 'typo', jobs: 2, reason: 'no-handler' }] }),
      'No server of queue “q” has a handler for “typo”',
    ],
    ['a silent server', situation({ servers: [server({ heartbeatAt: ago(16) })] }), 'no heartbeat for 16 s'],
    [
      'a job without its server',
      situation({ longestRunning: [job({ state: 'processing', serverId: 'gone', startedAt: ago(60) })] }),
      'on a server that is gone',
    ],
    [
      'a long wait',
      situation({ queues: [queue({ oldestEnqueuedAt: ago(301), counts: waiting })] }),
      'Queue “q” lags',
    ],
    ['clocks that differ', situation({ servers: [server({ heartbeatAt: ago(-9) })] }), 'differ by 9.0 s'],
  ] as const) {
    it(`tell of ${what}`, () => {
      const texts = findWarnings(given).map(({ text }) => read(text));
      expect(texts).to.have.lengthOf(1);
      expect(texts[0]).to.include(words);
    });
  }

  for (const [what, given] of [
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
    it(`are silent about ${what}`, () => {
      expect(findWarnings(given)).to.deep.equal([]);
    });
  }
});
