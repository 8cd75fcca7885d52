import { expect } from 'chai';
import { explain } from '../src/diagnosis/explanation.js';
import { queueStatus } from '../src/diagnosis/queues.js';
import { ago, counts, job, nowMs, queue, read, server } from './situation.js';

describe('the blocker of a queue', () => {
  const ready = { ...counts, enqueued: 3 };
  const limited = { concurrencyLimit: 2, counts: { ...ready, processing: 2 } };
  const rateLimit = { jobs: 5, periodMs: 60_000, burst: 1 };
  for (const [what, queueAs, consumers, word, words] of [
    ['it is paused', queue({ ...limited, pausedAt: ago(60) }), [], 'Paused', 'was paused 1 min ago'],
    ['it has no server', queue(limited), [], 'No server', 'no running server takes'],
    [
      'its servers are quiet',
      queue({ counts: ready }),
      [server({ state: 'quiet' })],
      'No server takes jobs',
      'the only server that takes jobs from queue “q” has been asked to take no more',
    ],
    [
      'its servers are silent',
      queue({ counts: ready }),
      [server({ heartbeatAt: ago(20) })],
      'Servers are silent',
      'is silent: last heartbeat 20 s ago. Declared dead after 30 s',
    ],
    [
      'its limit is reached',
      queue(limited),
      [server({ processing: 2 })],
      'At its limit',
      '3 jobs are ready, but queue “q” is at its limit of 2 jobs at once',
    ],
    [
      'no slot is free',
      queue({ counts: ready, rateLimit, oldestEnqueuedAt: ago(4) }),
      [server({ processing: 2 }), server({ processing: 3 })],
      'All slots busy',
      'all 4 slots are busy on the 2 servers that take jobs',
    ],
    [
      'a rate limit is left',
      queue({ counts: ready, rateLimit, oldestEnqueuedAt: ago(4) }),
      [server()],
      'At its rate limit',
      'queue “q” starts at most 5 jobs in 1 min',
    ],
    [
      'nothing is left',
      queue({ counts: ready, oldestEnqueuedAt: ago(31) }),
      [server()],
      'Stuck',
      'although 1 of 2 slots is free',
    ],
    [
      'nothing, for a moment',
      queue({ counts: ready, oldestEnqueuedAt: ago(9) }),
      [server()],
      'About to start',
      '3 jobs are ready, the oldest for 9.0 s, and 1 of 2 slots is free',
    ],
    [
      'nothing, as its server has only just started',
      queue({ counts: ready, oldestEnqueuedAt: ago(400) }),
      [server({ startedAt: ago(20) })],
      'About to start',
      'the oldest for 6 min 40 s, and 1 of 2 slots is free',
    ],
    [
      'slots that have been taken since the last heartbeat',
      queue({ counts: { ...ready, processing: 2 }, oldestEnqueuedAt: ago(9) }),
      [server()],
      'All slots busy',
      'but all 2 slots are busy',
    ],
    [
      'nothing, as its jobs are running',
      queue({ counts: { ...ready, processing: 1 }, oldestEnqueuedAt: ago(60) }),
      [server()],
      'Running',
      '1 of 2 slots is free',
    ],
    ['nothing', queue(), [server()], 'Queue is empty', 'No job is ready. 1 server takes jobs'],
    [
      'no server for what comes later',
      queue({ counts: { ...counts, scheduled: 1 } }),
      [],
      'No server',
      '1 job waits for a time or for other jobs, but no running server',
    ],
    ['a pause without jobs', queue({ pausedAt: ago(60) }), [server()], 'Paused', 'was paused 1 min ago'],
  ] as const) {
    it(`${what}: ${word}`, () => {
      const status = queueStatus(queueAs, consumers, nowMs);
      expect(status.badge.word).to.equal(word);
      expect(read(status.text)).to.include(words);
    });
  }

  it('names the queue whose jobs occupy every slot, even before the next heartbeat', () => {
    const mail = queue({ name: 'mail', counts: { ...counts, processing: 2 }, oldestEnqueuedAt: ago(60) });
    const queueAs = queue({ counts: ready, oldestEnqueuedAt: ago(60) });
    const both = server({ queues: ['mail', queueAs.name], processing: 1 });
    const { badge, text } = queueStatus(queueAs, [both], nowMs, { queues: [mail, queueAs] });
    expect(badge.word).to.equal('All slots busy');
    expect(read(text)).to.include('but 2 of 2 slots are running “mail”, which this server serves first');
  });

  it('is the same for a ready job as for its queue', () => {
    const { text } = explain(job({}), { attempts: [], servers: [server()], queue: queue(limited), nowMs });
    expect(read(text)).to.include('It is ready to run, but queue “q” is at its limit');
  });

  it('is the concurrency key of a blocked job', () => {
    const { text } = explain(job({ readyAt: null }), { attempts: [], servers: [], queue: queue(), nowMs });
    expect(read(text)).to.include('concurrency key');
  });
});
