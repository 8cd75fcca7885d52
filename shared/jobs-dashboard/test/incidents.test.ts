import { nextOccurrences } from '@longshore/jobs';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the incidents', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
  });
  afterEach(() => site.close());

  const pageAt = async (path: string): Promise<string> =>
    (await site.http.get(`/job-dashboard/${path}`)).text;
  const post = async (path: string, form: Record<string, string>) => {
    const page = await pageAt(`incidents/${site.story.incidentId}`);
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(page) ?? [];
    return site.http.post(`/job-dashboard/${path}`, new URLSearchParams({ token, ...form }).toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  };
  const pauseAndRecord = async (): Promise<void> => {
    const { storage } = site.story;
    await storage.queues.pause('images', { by: 'ann', reason: 'disk full' });
    await storage.recordWarnings();
  };
  const idOf = async (key: string): Promise<string> =>
    (await site.story.storage.incidents.list({ limit: 100 })).find((each) => each.key === key)?.id ?? '';

  it('are listed with their state and how long they lasted', async () => {
    const { storage } = site.story;
    await pauseAndRecord();
    storage.manualClock.advance(4 * 60_000);
    await storage.queues.resume('images');
    await storage.recordWarnings();
    const list = textOf(await pageAt('incidents'));
    expect(list).to.match(/Ended Queue “images” was paused by ann just now: disk full\. 4 min ago 4 min/);
    expect(list).to.contain('Ongoing');
  });

  it('say why they ended, and what was changed just before they began', async () => {
    const { storage } = site.story;
    await storage.deployments.record({ version: '1.4.1' });
    storage.manualClock.advance(30_000);
    await pauseAndRecord();
    storage.manualClock.advance(60_000);
    await storage.queues.resume('images');
    await storage.recordWarnings();
    const page = textOf(await pageAt(`incidents/${await idOf('queue images is paused')}`));
    expect(page).to.contain('after 1 min. It no longer applies.');
    expect(page).to.match(/Changed just before \S+ version 1\.4\.1 was deployed/);
  });

  it('can be acknowledged with a reason, which everybody sees', async () => {
    const { incidentId, storage } = site.story;
    const answer = await post(`incidents/${incidentId}/acknowledge`, { reason: 'calling the PSP' });
    expect(answer.status).to.equal(303);
    for (const path of ['', 'incidents', `incidents/${incidentId}`])
      expect(textOf(await pageAt(path)), path).to.contain('Acknowledged by local : calling the PSP');
    const [entry] = await storage.audit.list({ limit: 1 });
    expect(entry).to.include({ action: 'incidents/acknowledge', reason: 'calling the PSP' });
  });

  it('can be muted until a time, and unmuted', async () => {
    const { incidentId } = site.story;
    const count = async () => /(\d+) warnings?/.exec(textOf(await pageAt('')))?.[1];
    const before = Number(await count());
    await post(`incidents/${incidentId}/mute`, { for: '60' });
    expect(textOf(await pageAt('incidents'))).to.match(/Muted until \S+ UTC by local/);
    expect(Number(await count())).to.equal(before - 1);
    await post(`incidents/${incidentId}/unmute`, {});
    expect(textOf(await pageAt('incidents'))).not.to.contain('Muted until');
  });

  it('cannot be muted without an end', async () => {
    const answer = await post(`incidents/${site.story.incidentId}/mute`, { for: '' });
    expect(answer.status).to.equal(422);
    expect(textOf(answer.text)).to.contain('The end of the muting must be chosen or entered');
  });

  it('show the earlier incidents of the same warning', async () => {
    const { storage } = site.story;
    for (let times = 0; times < 2; times++) {
      await pauseAndRecord();
      storage.manualClock.advance(60_000);
      await storage.queues.resume('images');
      await storage.recordWarnings();
      storage.manualClock.advance(10 * 60_000);
    }
    const page = textOf(await pageAt(`incidents/${await idOf('queue images is paused')}`));
    expect(page).to.match(/The same warning at other times .* Ended Queue “images” was paused/);
  });
});

describe('a warning of the overview', () => {
  it('has a button that remedies it', async () => {
    const site = await openSite({ control: ({ storage }) => storage });
    await site.story.storage.queues.pause('images');
    const { text } = await site.http.get('/job-dashboard/');
    expect(text).to.match(/action="[^"]*queues\/images\/resume".*Resume the queue/s);
    await site.close();
  });

  it('counts the runs that a paused recurring job has skipped', async () => {
    const site = await openSite();
    const { storage, recurringId } = site.story;
    await storage.recurring.pause(recurringId, { by: 'ann', reason: 'stock-taking' });
    const text = async () => textOf((await site.http.get('/job-dashboard/')).text);
    const job = await storage.recurring.find(recurringId);
    if (job === null) throw new Error('The story has a recurring job');
    const due = nextOccurrences(job, 3, new Date(storage.manualClock.now()));
    expect(await text()).not.to.contain(`Recurring job “${recurringId}” was paused`);
    storage.manualClock.advance((due[2]?.getTime() ?? 0) - storage.manualClock.now());
    expect(await text()).to.match(/was paused by ann .*: stock-taking\. 3 runs have been skipped since/);
    await site.close();
  });

  it('offers to undo a deletion that has not begun', async () => {
    const site = await openSite({ control: ({ storage }) => storage });
    const { storage } = site.story;
    const filter = { state: ['failed' as const] };
    const { id } = await storage.bulk.start({
      action: 'delete',
      filter,
      requestedBy: 'ann',
      delayMs: 60_000,
    });
    const { text } = await site.http.get('/job-dashboard/');
    expect(textOf(text)).to.match(/ann is about to delete .*jobs?: the deletion begins in 1 min/);
    expect(text).to.match(new RegExp(`action="[^"]*bulk/${id}/stop"`));
    await site.close();
  });

  it('links to the runbook of its kind', async () => {
    const site = await openSite({ runbookUrl: 'https://wiki.example/runbook?about={subject}#{kind}' });
    const { text } = await site.http.get(`/job-dashboard/incidents/${site.story.incidentId}`);
    expect(text).to.match(/href="https:\/\/wiki\.example\/runbook\?about=[\w%]+#[a-z]+-[a-z]+"/);
    await site.close();
  });

  it('says since when it lasts, and what was changed just before', async () => {
    const site = await openSite();
    const { storage } = site.story;
    await storage.deployments.record({ version: '2.0.0' });
    const page = async () => textOf((await site.http.get('/job-dashboard/')).text);
    await storage.incidents.observe([]); // the others
    storage.manualClock.advance(3 * 60_000);
    await storage.recordWarnings();
    expect(await page()).to.match(/Since \S+ , for /);
    await site.close();
  });
});
