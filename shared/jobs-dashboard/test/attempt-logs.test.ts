import type { ClaimedJob } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the logs of a job’s attempts', () => {
  let site: Site;
  let id = '';

  const get = async (path: string): Promise<string> => (await site.http.get(`/job-dashboard${path}`)).text;
  /** Returns the HTML of each attempt on the job page, newest first. */
  const attempts = async (): Promise<string[]> =>
    [...(await get(`/jobs/${id}`)).matchAll(/<article class="attempt"[^]*?<\/article>/g)].map(
      ([html]) => html,
    );

  const runAttemptWithLog = async (messages: readonly string[], end: boolean): Promise<ClaimedJob> => {
    const { storage, serverId } = site.story;
    const claimed = await storage.start(serverId, 'newsletter');
    const at = new Date(storage.manualClock.now());
    const lines = messages.map((message, index) => ({
      line: index + 1,
      at,
      level: 'info' as const,
      message,
      fields: null,
    }));
    await storage.reports.report([{ claim: claimed.claim, progress: null, lines }]);
    const error = { name: 'Refused', message: messages[0] ?? '', stack: null };
    if (end) await storage.end(claimed, { kind: 'retry', error, delayMs: 1 });
    storage.manualClock.advance(10);
    await storage.maintenance.promoteDue(10);
    return claimed;
  };

  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
    const { storage, serverId } = site.story;
    while (
      (await storage.claims.claim({ serverId, queue: 'newsletter', limit: 10, leaseMs: 60_000 })).length > 0
    );
    id = await storage.add({ name: 'talkative', queue: 'newsletter' });
  });
  afterEach(() => site.close());

  it('are shown with each finished attempt, and only there', async () => {
    await runAttemptWithLog(['one', 'two'], true);
    await runAttemptWithLog(['three'], true);
    const [second = '', first = ''] = await attempts();
    expect(textOf(second))
      .to.match(/Attempt 2 .*Log, 1 line .*three/)
      .and.not.include('two');
    expect(textOf(first))
      .to.match(/Attempt 1 .*Log, 2 lines .*one .*two/)
      .and.not.include('three');
  });

  it('are separated by headings where each attempt begins', async () => {
    await runAttemptWithLog(['one', 'two'], true);
    await runAttemptWithLog(['three'], false);
    expect(textOf(await get(`/jobs/${id}/log`))).to.match(/Attempt 1 .*one .*two .*Attempt 2 .*three/);
    expect(textOf(await get(`/jobs/${id}/log?attempt=2`))).not.to.match(/Attempt 2 +\d/);
  });

  it('have no headings if there was only one attempt', async () => {
    await runAttemptWithLog(['one'], false);
    expect(textOf(await get(`/jobs/${id}/log`))).not.to.include('Attempt');
  });

  it('are shown only in the log for a running or single attempt', async () => {
    await runAttemptWithLog(['one'], false);
    expect((await attempts()).join('')).not.to.include('Log, ');
    expect(textOf(await get(`/jobs/${id}`))).to.match(/Log .*one .*View full log/);
  });

  it('are limited to the latest 25 lines at the top of the page', async () => {
    await runAttemptWithLog(
      Array.from({ length: 30 }, (_, index) => `line ${index}.`),
      false,
    );
    const { text } = await site.http.get(`/job-dashboard/jobs/${id}`, {
      headers: { 'longshore-region': 'log' },
    });
    expect(textOf(text)).to.include('5 earlier lines').and.include('line 5.').and.not.include('line 4.');
  });

  it('link to the full log of each attempt if the page shows only the end', async () => {
    await runAttemptWithLog(
      Array.from({ length: 101 }, (_, index) => `line ${index}.`),
      true,
    );
    await runAttemptWithLog(['last'], true);
    expect((await attempts()).at(-1)).to.include(`jobs/${id}/log?attempt=1"`);
    const log = textOf(await get(`/jobs/${id}/log?attempt=1`));
    expect(log).to.include('Log of attempt 1 of talkative').and.include('line 0.').and.not.include('last');
    expect((await site.http.get(`/job-dashboard/jobs/${id}/log?attempt=none`)).status).to.equal(400);
  });

  it('are shown next to the manual changes to the job', async () => {
    const html = await get(`/jobs/${id}`);
    expect(html).to.match(new RegExp(`href="[^"]*audit\\?target=${id}"`));
    const { recurringId } = site.story;
    expect(await get(`/recurring/${recurringId}`)).to.match(
      new RegExp(`href="[^"]*audit\\?target=${recurringId}"`),
    );
    expect(await get('/queues/images')).to.match(/href="[^"]*audit\?target=images"/);
  });
});
