import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('a details page', () => {
  let site: Site;
  const html = async (path: string): Promise<string> => (await site.http.get(`/job-dashboard${path}`)).text;
  const page = async (path: string): Promise<string> => textOf(await html(path));

  before(async () => {
    site = await openSite({ control: ({ storage }) => storage });
  });
  after(() => site.close());

  it('shows first why a job failed, with a link to jobs with the same error', async () => {
    const text = await html(`/jobs/${site.story.failedId}`);
    expect(textOf(text)).to.match(
      /Failed CardDeclinedError The bank said no[^:]*: [^.]* Jobs with this error It is not retried automatically: all 3 attempts are used up\. Retry/,
    );
    const [, alike = ''] = /href="[^"]*(jobs\?name=charge-card&amp;fingerprint=[^"]+)"/.exec(text) ?? [];
    expect(await page(`/${alike.replaceAll('&amp;', '&')}`)).to.include('All 1');
  });

  it('shows a repeated error once', async () => {
    const text = await page(`/jobs/${site.story.failedId}`);
    expect(text).to.match(/Attempt 2 .*Same error as attempt 3 .*Attempt 1 .*TimeoutError The bank did not/);
    expect(text.match(/at charge \(file/g)).to.have.length(1);
  });

  it('shows the age of the last log line of a running job', async () => {
    expect(await page(`/jobs/${site.story.processingId}`)).to.include('Its last log line came 6 min ago');
  });

  it('shows that someone has asked to cancel a running job, and why, until it has ended', async () => {
    const { storage, processingId } = site.story;
    expect(await page(`/jobs/${processingId}`)).to.include('Cancel the job');
    await storage.control.cancel(processingId, { reason: 'wrong catalogue' });
    expect(await page(`/jobs/${processingId}`))
      .to.match(/Someone asked to cancel it .*: it ends as cancelled once its handler throws/)
      .and.match(/Cancel requested .* wrong catalogue/)
      .and.not.include('Cancel the job');
  });

  it('confirms running a job without its dependencies', async () => {
    const text = await page(`/jobs/${site.story.awaitingId}`);
    expect(text)
      .to.include('It stops waiting for job “import-catalogue”')
      .and.include('Run it without waiting');
  });

  it('shows the key figures of a queue, with its limit', async () => {
    await site.story.storage.queues.limit('images', { concurrencyLimit: 6, rateLimit: null });
    expect(await page('/queues/images')).to.match(
      /Ready 5 .*Oldest ready for \d+ s .*Running 5 of 6 .*Finished per minute 0 over 5 min /,
    );
  });

  it('offers to retry the failed jobs of a batch, and lists them first', async () => {
    const text = await html(`/batches/${site.story.batchId}`);
    expect(textOf(text)).to.include('Latest error: MailboxFullError').and.include('Retry 1 failed job…');
    expect(textOf(text)).to.match(/Jobs, failed first .*? Failed send-newsletter/);
    const [, confirm = ''] = /href="[^"]*(bulk\/confirm\?[^"]+)"/.exec(text) ?? [];
    expect(await page(`/${confirm.replaceAll('&amp;', '&')}`)).to.include('1 job');
  });

  it('counts the slots of a server by the jobs that it lists', async () => {
    const server = await site.story.storage.servers.list();
    expect(server.find(({ id }) => id === site.story.serverId)?.processing).to.equal(6);
    const { storage } = site.story;
    await storage.start(site.story.serverId, 'images');
    expect(await page(`/servers/${site.story.serverId}`))
      .to.include('7 of 8')
      .and.include('dead after 30 s');
  });

  it('links from a chart to the failures in its period', async () => {
    expect(await html('/')).to.include('jobs?state=failed&amp;finished-after=24h');
    expect(await html('/queues/newsletter')).to.include(
      'jobs?state=failed&amp;queue=newsletter&amp;finished-after=1h',
    );
  });

  it('marks the servers by their state and short ids', async () => {
    const { serverId } = site.story;
    expect(await page('/servers')).to.match(
      new RegExp(`Running worker-1, process 4127 ${serverId.slice(-8)} .*of 8 `),
    );
  });

  it('shows the installation’s name on every page, in its title and at sign-in', async () => {
    const staging = await openSite({ instance: 'staging <1>', password: 'secret', production: true });
    try {
      const { text } = await staging.http.get('/job-dashboard/', { headers: { accept: 'text/html' } });
      expect(text).to.include('Sign in · staging &lt;1&gt; · Longshore</title>');
      expect(textOf(text)).to.include('Longshore staging &lt;1&gt;');
      const inside = await staging.http.request('GET', '/job-dashboard/help', {
        headers: { authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}` },
      });
      expect(inside.text).to.include('<span class="tag">staging &lt;1&gt;</span>');
    } finally {
      await staging.close();
    }
  });
});
