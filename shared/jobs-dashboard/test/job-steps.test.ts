import { expect } from 'chai';
import type { ActionRecord } from '../src/index.js';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { seedSteps, type SteppedJobs } from './story-steps.js';

describe('the steps of a job', () => {
  let site: Site;
  let jobs: SteppedJobs;
  let records: ActionRecord[];
  beforeEach(async () => {
    records = [];
    site = await openSite({
      control: ({ storage }) => storage,
      onAction: (record) => records.push(record),
    });
    jobs = await seedSteps(site.story.storage);
  });
  afterEach(() => site.close());

  const pageOf = async (id: string): Promise<string> =>
    (await site.http.get(`/job-dashboard/jobs/${id}`)).text;
  /** Returns the section about the steps; empty if the page has none. */
  const sectionOf = async (id: string): Promise<string> =>
    /<section class="panel" aria-labelledby="steps">.*?<\/section>/s.exec(await pageOf(id))?.[0] ?? '';
  const post = async (path: string, form: Record<string, string>) => {
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(await pageOf(jobs.waitingId)) ?? [];
    const body = new URLSearchParams({ token, ...form }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return site.http.post(`/job-dashboard${path}`, body, { headers });
  };

  it('are shown with their kind, state, length, attempts, result and signals', async () => {
    const text = textOf(await sectionOf(jobs.waitingId));
    expect(text).to.match(/charge Done step, took 20 s, 2 attempts/);
    expect(text).to.match(/"id" : "payment-7"/);
    expect(text).to.match(
      /parcel Done wait for a signal, took 20 s signal \S+ min ago by ada { "lost" : true/,
    );
    expect(text).to.match(
      /approval Waiting wait for a signal, for 10 min.* until Tue 3 Mar, 14:08.* at the latest/,
    );
    expect(text).to.match(/Signals that nothing has waited for yet gift-note .* "Happy birthday"/);
  });

  it('are shown as bars over the time from the first start to the last end', async () => {
    const section = await sectionOf(jobs.failedId);
    const bars = [...section.matchAll(/<rect class="tone-(\w+)" x="([\d.]+)" width="([\d.]+)"/g)];
    expect(bars.map(([, ...bar]) => bar)).to.deep.equal([
      ['done', '0.0', '90.9'],
      ['done', '909.1', '90.9'],
      ['failed', '994.0', '6.0'],
    ]);
  });

  it('are redacted as results of jobs are', async () => {
    const section = await sectionOf(jobs.waitingId);
    expect(section).not.to.match(/tok_visa|hunter2/);
    expect(section).to.contain('redacted');
  });

  it('show the error of a step that has failed, and no section if there are none', async () => {
    expect(textOf(await sectionOf(jobs.failedId))).to.match(/ship Failed .* CarrierError No van is free/);
    expect(await sectionOf(site.story.doneId)).to.equal('');
  });

  it('show a signal to a job that has no steps so far', async () => {
    await site.story.storage.steps.signal(site.story.scheduledId, { name: 'approval', data: { by: 'bob' } });
    expect(textOf(await sectionOf(site.story.scheduledId))).to.match(/Steps Signals .* approval .* "bob"/);
  });

  it('say what a suspended job waits for, at the top and in lists', async () => {
    const summary = async (id: string): Promise<string> =>
      textOf(/<section class="summary.*?<\/section>/s.exec(await pageOf(id))?.[0] ?? '');
    expect(await summary(jobs.waitingId)).to.match(
      /It waits for the signal “approval”, at the latest until Tue 3 Mar, 14:08/,
    );
    expect(await summary(jobs.sleepingId)).to.contain('It sleeps (“cool-off”) and goes on');
    const list = textOf((await site.http.get('/job-dashboard/jobs?awaits=approval')).text);
    expect(list).to.match(/at the latest in 1 d 23 h .*waits for approval/);
    expect(list).not.to.contain('cool-off');
    expect(textOf(await pageOf(jobs.waitingId))).to.match(
      /Suspended .* for approval, at the latest in 1 d 23 h/,
    );
  });

  it('say in the timeline what the job has waited for, and between which runs', async () => {
    const timelineOf = async (id: string): Promise<string> =>
      textOf(/<ol class="timeline">.*?<\/ol>/s.exec(await pageOf(id))?.[0] ?? '');
    expect(await timelineOf(jobs.waitingId)).to.match(
      /Ran .* Waited for parcel 20 s Suspended .* for approval/,
    );
    const { storage } = site.story;
    storage.manualClock.advance(2 * 86_400_000);
    await storage.maintenance.promoteDue(10);
    const server = await storage.servers.register({
      host: 'worker-6',
      pid: 66,
      queues: ['fulfilment'],
      concurrency: 2,
      timeoutMs: 10 * 86_400_000,
    });
    const request = { serverId: server.id, queue: 'fulfilment', limit: 10, leaseMs: 10 * 86_400_000 };
    const claims = (await storage.claims.claim(request)).map(({ claim }) => claim);
    const claim = claims.find(({ jobId }) => jobId === jobs.sleepingId) ?? expect.fail('not claimed');
    const { steps } = await storage.steps.read({ id: claim.jobId });
    const slept = steps.find(({ kind }) => kind === 'sleep') ?? expect.fail('no sleep');
    const ended = {
      ...slept,
      state: 'done',
      result: 'null',
      finishedAt: new Date(storage.manualClock.now()),
    } as const;
    await storage.steps.record(claim, [ended]);
    expect(await timelineOf(claim.jobId)).to.match(/Slept until Mon 2 Mar, 14:\d\d 2 d Attempt 1/);
  });

  it('get a signal with data and a reason from a button', async () => {
    const page = await pageOf(jobs.waitingId);
    expect(page).to.match(/action="[^"]*jobs\/[^"/]+\/signal"/);
    expect(page).to.contain('<input type="hidden" name="signal" value="&#34;approval&#34;">');
    const form = { signal: '"approval"', data: '{"approved": true}', reason: 'asked the boss' };
    expect((await post(`/jobs/${jobs.waitingId}/signal`, form)).status).to.equal(303);
    const { storage } = site.story;
    const { signals } = await storage.steps.read({ id: jobs.waitingId });
    expect(signals.at(-1)).to.deep.include({ name: 'approval', data: { approved: true }, sentBy: 'local' });
    await storage.maintenance.promoteDue(10);
    expect((await storage.jobs.find(jobs.waitingId))?.state).to.equal('enqueued');
    expect(records).to.have.length(1);
    expect(records[0]).to.deep.include({ action: 'jobs/signal', reason: 'asked the boss' });
  });

  it('refuse a signal whose data is not JSON', async () => {
    const refused = await post(`/jobs/${jobs.waitingId}/signal`, { signal: '"approval"', data: 'yes' });
    expect(refused.status).to.equal(422);
    expect(textOf(refused.text)).to.contain('The data must be JSON');
  });

  it('can be run again from one of them, which names what is dropped', async () => {
    const section = await sectionOf(jobs.failedId);
    expect(textOf(section)).to.contain(
      'Drops what is stored of “parcel” and “ship”, and makes the job ready.',
    );
    const answer = await post(`/jobs/${jobs.failedId}/rerun-from`, { step: '"parcel"' });
    expect(answer.status).to.equal(303);
    const { storage } = site.story;
    expect((await storage.jobs.find(jobs.failedId))?.state).to.equal('enqueued');
    const { steps } = await storage.steps.read({ id: jobs.failedId });
    expect(steps.map(({ name }) => name)).to.deep.equal(['charge']);
    expect(await sectionOf(jobs.failedId)).not.to.contain('rerun-from');
  });
});
