import { type BlockingKey, notPaused, type Queue, type Server } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { observedWarnings } from '../src/diagnosis/warning.js';
import { floodWarnings, noBlockingKeys, uncountedSentence } from '../src/diagnosis/blocking-keys.js';
import { longWaits, queueStatus } from '../src/diagnosis/queues.js';
import { plainText } from '../src/format/sentence.js';
import { ago, counts, nowMs, queue, read, server } from './situation.js';

const flood: BlockingKey = {
  queue: 'q',
  key: 'tenant-7',
  blocked: { count: 9_798, exact: true },
  details: {
    limit: 1,
    since: ago(600),
    occupants: [{ id: '019ca000-0000-7000-8000-00000000abcd', name: 'export', startedAt: ago(180) }],
  },
};
const blocking = { keys: [flood], isComplete: true };

describe('queues that wait for long', () => {
  const situation = { blocking: noBlockingKeys, pausedJobs: [], nowMs };

  it('share a warning if they wait for the same slots, which names the queue that occupies them', () => {
    const waiting = ['a', 'b', 'c', 'd'].map((name, index) =>
      queue({ name, counts: { ...counts, enqueued: 2 }, oldestEnqueuedAt: ago(400 + index) }),
    );
    const mail = queue({ name: 'mail', counts: { ...counts, processing: 10 } });
    const servers = [server({ queues: ['mail', 'a', 'b', 'c', 'd'], concurrency: 10, processing: 10 })];
    const warnings = longWaits({ ...situation, queues: [mail, ...waiting], servers });
    expect(warnings.map(({ text, advice }) => read([...text, ' ', advice].flat()))).to.deep.equal([
      'Queues “d”, “c” and 2 others lag: their oldest job has been ready for 6 min 43 s, but 10 of 10 slots are running “mail”, which this server serves first. 8 jobs are ready. The next job starts when a slot is free. Add servers or slots, or serve this queue first.',
    ]);
  });

  it('share a warning while the same servers work through what piled up, for example after a restart', () => {
    const waiting = ['a', 'b', 'c', 'd'].map((name, index) =>
      queue({
        name,
        counts: { ...counts, enqueued: 2, processing: 1 },
        oldestEnqueuedAt: ago(400 + index),
      }),
    );
    const servers = [server({ queues: ['a', 'b', 'c', 'd'], concurrency: 10, processing: 4 })];
    const warnings = longWaits({ ...situation, queues: waiting, servers });
    expect(warnings.map(({ text, advice }) => read([...text, ' ', advice].flat()))).to.deep.equal([
      'Queues “d”, “c” and 2 others lag: their oldest job has been ready for 6 min 43 s. 8 jobs are ready. Add servers, or check what keeps them busy.',
    ]);
  });

  it('are one alert, also while a slot is free for a moment, one more queue waits, or the server is another', () => {
    const lagging = (name: string) =>
      queue({ name, counts: { ...counts, enqueued: 2, processing: 1 }, oldestEnqueuedAt: ago(400) });
    const queues = [lagging('a'), queue({ name: 'b' })];
    const served = { queues: ['a', 'b'], concurrency: 2 };
    const keysOf = (lagging: Queue[], consumer: Server): string[] =>
      observedWarnings(longWaits({ ...situation, queues: lagging, servers: [consumer] }), nowMs).map(
        ({ key }) => key,
      );
    const busy = keysOf(queues, server({ ...served, processing: 2 }));
    expect(busy).to.have.length(1);
    expect(keysOf(queues, server({ ...served, processing: 1 }))).to.deep.equal(busy);
    expect(keysOf([lagging('a'), lagging('b')], server({ ...served, processing: 2 }))).to.deep.equal(busy);
    expect(keysOf(queues, server({ ...served, id: 's9', processing: 2 }))).to.deep.equal(busy);
  });

  it('have the same cause after their servers have restarted', () => {
    const queues = [queue({ counts: { ...counts, enqueued: 2 }, oldestEnqueuedAt: ago(400) })];
    const causeOn = (...ids: string[]) =>
      longWaits({ ...situation, queues, servers: ids.map((id) => server({ id, processing: 2 })) })[0]?.cause;
    expect(causeOn('s1', 's2')).to.be.a('string').that.equals(causeOn('s3')).and.equals(causeOn('s2', 's3'));
  });

  it('count at most as many ready jobs as are not known to be blocked', () => {
    const queues = [queue({ counts: { ...counts, enqueued: 9_900 }, oldestEnqueuedAt: ago(400) })];
    const isPart = { ...flood, blocked: { count: 9_798, exact: false } };
    const [wait] = longWaits({
      ...situation,
      queues,
      servers: [server({ processing: 2 })],
      blocking: { keys: [isPart], isComplete: true },
    });
    expect(wait?.advice).to.match(/^At most 102 jobs are ready\. /);
  });

  it('are not reported if their jobs wait because the job type is paused', () => {
    const pausedJobs = [
      { ...notPaused, name: 'mail', pausedAt: ago(60), queues: ['q'], jobs: { count: 2, exact: true } },
    ];
    const queues = [queue({ counts: { ...counts, enqueued: 2 }, oldestEnqueuedAt: ago(400) })];
    expect(longWaits({ ...situation, queues, servers: [server()], pausedJobs })).to.deep.equal([]);
    expect(longWaits({ ...situation, queues, servers: [server()] })).to.have.length(1);
    const { badge, text } = queueStatus(queue({ ...queues[0] }), [server()], nowMs, { pausedJobs });
    expect([badge.word, read(text)]).to.deep.equal([
      'Job type paused',
      '2 jobs are ready, the oldest for 6 min 40 s, but job type “mail” was paused 1 min ago. Its jobs do not start until the type is resumed.',
    ]);
  });
});

describe('a flood of jobs with one concurrency key', () => {
  it('is not called ready, and names the key, its limit and the jobs that hold it', () => {
    const blockedQueue = queue({ counts: { ...counts, enqueued: 9_798, processing: 1 } });
    const { badge, text } = queueStatus(blockedQueue, [server()], nowMs, { blocking });
    expect([badge.word, read(text)]).to.deep.equal([
      'Blocked by keys',
      '9,798 jobs are blocked by concurrency key “tenant-7”, which allows 1 at once, held by export …abcd (started 3 min ago). The next one becomes ready when a job with its key ends.',
    ]);
  });

  it('leaves the number of ready jobs of other keys', () => {
    const blockedQueue = queue({ counts: { ...counts, enqueued: 9_800 }, oldestEnqueuedAt: ago(3) });
    const { text } = queueStatus(blockedQueue, [server()], nowMs, { blocking });
    expect(read(text)).to.match(
      /^2 jobs are ready, the oldest for 3\.0 s, and 1 of 2 slots is free\. 9,798 jobs are blocked by/,
    );
  });

  it('is named beside the waiting times, which do not contain its jobs yet', () => {
    expect(read(uncountedSentence(blocking) ?? [])).to.match(
      /^without 9,798 jobs that keys block, some for \d+ min/,
    );
    expect(uncountedSentence({ keys: [], isComplete: true })).to.equal(null);
  });

  const waited = (ms: number, blocked = 9_798) => {
    const since = flood.details?.since.getTime() ?? 0;
    const keys = [{ ...flood, blocked: { count: blocked, exact: true } }];
    return floodWarnings({ keys, isComplete: true }, since + ms);
  };

  it('is reported after five minutes, from a hundred jobs on', () => {
    expect(waited(300_000, 100)).to.have.length(1);
    expect(waited(299_999, 100)).to.deep.equal([]);
    expect(waited(300_000, 99)).to.deep.equal([]);
  });

  it('has lasted at least since its next job was due, and says how long that has waited', () => {
    const [warning] = waited(300_000);
    expect(warning?.since).to.deep.equal(flood.details?.since);
    const readAtMs = (flood.details?.since.getTime() ?? 0) + 300_000;
    expect(plainText(warning?.text ?? [], readAtMs)).to.match(/\. The next of them has waited for 5 min\.$/);
  });

  it('is reported with a form that sets the limit of the key', () => {
    expect(waited(300_000)[0]?.button).to.deep.equal({
      path: 'queues/q/limit-key',
      word: 'Raise the key’s limit',
      limits: { keys: ['tenant-7'], limit: flood.details?.limit },
    });
  });

  it('is reported after half a minute, from a thousand jobs on', () => {
    const [warning, ...otherWarnings] = waited(30_000);
    expect(otherWarnings).to.deep.equal([]);
    expect(read(warning?.text ?? [])).to.match(
      /^9,798 jobs of queue “q” are blocked by concurrency key “tenant-7”/,
    );
    expect(waited(29_999)).to.deep.equal([]);
    expect(waited(30_000, 999)).to.deep.equal([]);
  });
});
