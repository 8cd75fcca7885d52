import { defineJob, JobClient } from '@longshore/jobs';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

const work = defineJob({ name: 'work' });

describe('the page of a job', () => {
  let site: Site;
  let client: JobClient;
  before(async () => {
    site = await openSite();
    client = new JobClient(site.story.storage);
  });
  after(() => site.close());

  const page = async (path: string): Promise<string> =>
    textOf((await site.http.get(`/job-dashboard/${path}`)).text);

  it('shows all that the job was given', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const { id } = await client.enqueue(
      work,
      {},
      {
        timeoutMs: 90_000,
        concurrency: { key: 'tenant-7', limit: 4 },
        unique: { key: 'invoice-3', periodMs: 60_000, states: ['enqueued', 'done'], onConflict: 'replace' },
        idempotencyKey: 'request-5',
        traceparent,
        tags: ['march'],
      },
    );
    expect(await page(`jobs/${id}`))
      .to.include('Time limit 1 min 30 s an attempt')
      .and.include('tenant-7')
      .and.include('4 jobs at once')
      .and.include('invoice-3')
      .and.include('held while enqueued, done, for 1 min; replaces the holder’s content')
      .and.include('request-5')
      .and.include(traceparent)
      .and.include('march');
  });

  it('names all jobs and batches that it waits for, how they must end, and the delay after that', async () => {
    const batch = await client.enqueueBatch({ name: 'album', jobs: [{ definition: work, args: {} }] });
    const parents = [
      (await client.enqueue(defineJob({ name: 'resize' }))).id,
      (await client.enqueue(defineJob({ name: 'upload' }))).id,
      batch.id,
    ];
    const after = { parents, when: 'onAny' } as const;
    const { id } = await client.enqueue(work, {}, { after, delayMs: 5_000 });
    expect(await page(`jobs/${id}`))
      .to.include('Waits for to end in any way: resize Enqueued upload Enqueued album Running')
      .and.include('Delay 5.0 s after the last of these has ended');
  });

  it('names the job that enqueued it, and the jobs that its handler has enqueued', async () => {
    const { doneId, storage } = site.story;
    const handled = client.boundTo(() => ({ enqueuedBy: doneId }));
    const { id } = await handled.enqueue(defineJob({ name: 'follow-up' }));
    const done = await storage.jobs.find(doneId);
    expect(await page(`jobs/${id}`)).to.include(`Enqueued by ${done?.name ?? ''} Done`);
    expect(await page(`jobs/${doneId}`)).to.include('Enqueued by this job follow-up Enqueued');
    expect(await page(`jobs?enqueuer=${doneId}`)).to.include('follow-up');
  });

  it('says that the job that enqueued it was removed', async () => {
    const enqueuedBy = '0198c0de-0000-7000-8000-00000000abcd';
    const { id } = await client.boundTo(() => ({ enqueuedBy })).enqueue(work);
    expect(await page(`jobs/${id}`)).to.include(`Enqueued by removed ${enqueuedBy}`);
  });

  it('links to all jobs that its handler has enqueued, if there are many', async () => {
    const { retriedId } = site.story;
    const jobs = Array.from({ length: 12 }, () => ({ definition: work }));
    await client.boundTo(() => ({ enqueuedBy: retriedId })).enqueueMany(jobs);
    const { text } = await site.http.get(`/job-dashboard/jobs/${retriedId}`);
    expect(text).to.include(`jobs?enqueuer=${retriedId}`);
  });

  it('shows the interval, the time limit and the unique key of a recurring job', async () => {
    const unique = { key: 'harbour', onConflict: 'replace' } as const;
    const anchor = new Date('2026-01-01T06:00:00Z');
    const given = { id: 'sample', definition: work, queue: 'water', every: '1 h 30 min', anchor, unique };
    await client.recurring.addOrUpdate({ ...given, timeoutMs: 90_000 });
    expect(await page('recurring/sample'))
      .to.include('every 1 h 30 min, counted from')
      .and.include('each at most 1 min 30 s')
      .and.include('harbour : while another job holds it, it enqueues nothing, and replaces');
    await client.recurring.remove('sample');
  });

  it('has the ids of all of many parents', async () => {
    const jobs = Array.from({ length: 40 }, () => ({ definition: work, args: {} }));
    const parents = (await client.enqueueMany(jobs)).map((job) => job.id);
    const { id } = await client.enqueue(work, {}, { after: { parents } });
    const { text } = await site.http.get(`/job-dashboard/jobs/${id}`);
    expect(parents.filter((parent) => !text.includes(parent))).to.deep.equal([]);
  });

  for (const [kind, make] of [
    ['job', async () => `jobs/${(await client.enqueue(work)).id}`],
    [
      'batch',
      async () => `batches/${(await client.enqueueBatch({ jobs: [{ definition: work, args: {} }] })).id}`,
    ],
    ['queue', async () => 'queues/mail'],
    ['job type', async () => 'types/work'],
    ['server', async () => `servers/${site.story.serverId}`],
    ['recurring job', async () => `recurring/${(await site.story.storage.recurring.list())[0]?.id ?? ''}`],
    [
      'bulk operation',
      async () =>
        `bulk/${(await site.story.storage.bulk.start({ action: 'cancel', filter: { queue: ['x'] } })).id}`,
    ],
  ] as const)
    it(`of a ${kind}, too, leads to its history, which shows the reasons that were given`, async () => {
      const path = await make();
      const target = path.slice(path.indexOf('/') + 1);
      const { text } = await site.http.get(`/job-dashboard/${path}`);
      const link = /href="[^"]*(audit\?target=[^"]+)"/.exec(text)?.[1] ?? '';
      expect(decodeURIComponent(link)).to.equal(`audit?target=${target}`);
      const entry = { who: 'ada', action: 'queues/pause', filter: null, count: 1 };
      await site.story.storage.audit.record({ ...entry, target, reason: `because of ${kind}` });
      expect(await page(link)).to.include(`because of ${kind}`);
    });

  it('of a batch says when its callback runs', async () => {
    const job = { definition: work, args: {} };
    const words = {
      onDone: 'If all are done, then',
      onFailed: 'If one fails, then',
      onAny: 'However they end, then',
    };
    for (const [callbackWhen, word] of Object.entries(words) as [keyof typeof words, string][]) {
      const { id } = await client.enqueueBatch({ jobs: [job], callback: job, callbackWhen });
      expect(await page(`batches/${id}`)).to.include(`${word} work`);
    }
  });
});
