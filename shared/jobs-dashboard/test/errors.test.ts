import type { ErrorGroup } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { cardError } from './story-errors.js';

describe('the page of errors', () => {
  let site: Site;
  /** A site two hours later, where one of the errors has occurred again. */
  let recurred: Site;
  const page = async (path: string): Promise<string> =>
    textOf((await site.http.get(`/job-dashboard${path}`)).text);
  before(async () => {
    site = await openSite();
    recurred = await openSite({ control: ({ storage }) => storage });
    const { storage, serverId } = recurred.story;
    storage.manualClock.advance(2 * 3_600_000);
    await storage.deployments.record({ version: '2.4.0', at: new Date('2026-03-01T13:00Z') });
    await storage.deployments.record({ version: '2.5.0', at: new Date('2026-03-01T15:59Z') });
    await storage.add({ name: 'charge-card', queue: 'billing', maxAttempts: 1 });
    await storage.end(await storage.start(serverId, 'billing'), { kind: 'failed', error: cardError });
  });
  after(() => Promise.all([site.close(), recurred.close()]));

  it('marks an error as new if its first failure was in the last hour, whatever the time span', async () => {
    expect(await page('/errors')).to.include('first seen 39 min ago new');
    expect(await page('/errors?since=1h')).to.include('first seen 39 min ago new');
  });

  it('does not mark an error as new that occurred again in the last hour', async () => {
    const text = textOf((await recurred.http.get('/job-dashboard/errors?since=1h')).text);
    expect(text).to.match(/CardDeclinedError.*first seen 2 h/);
    expect(text).not.to.include(' new ');
  });

  it('sorts by last seen on request', async () => {
    expect(await page('/errors?order=last')).to.match(/MailboxFullError.*TimeoutError.*CardDeclinedError/);
  });

  it('retries a group as far back as it is shown', async () => {
    const confirmed = async (since: string): Promise<string> => {
      const { text } = await recurred.http.get(`/job-dashboard/errors?since=${since}`);
      const [, link = ''] = /href="\.\/(bulk\/confirm[^"]*)">Retry…/.exec(text) ?? [];
      return textOf((await recurred.http.get(`/job-dashboard/${link.replaceAll('&amp;', '&')}`)).text);
    };
    expect(await confirmed('1h')).to.match(/1 job .*finished-after:2026-03-01T15:05/);
    expect(await confirmed('24h')).to.match(/2 jobs .*finished-after:2026-02-28T16:05/);
  });

  it('links each figure to a list of as many jobs', async () => {
    const { text } = await site.http.get('/job-dashboard/errors');
    const links = [...text.matchAll(/<a (?:title="[^"]*" )?href="\.\/(jobs\?[^"]*)">(\d+)<\/a>/g)];
    expect(links).to.have.length(3);
    for (const [, path = '', count] of links) {
      const listed = await site.http.get(`/job-dashboard/${path.replaceAll('&amp;', '&')}`);
      expect(textOf(listed.text), path).to.match(new RegExp(`\\b${count} jobs? match`));
    }
  });

  it('draws when the jobs of a group failed', async () => {
    const { text } = await site.http.get('/job-dashboard/errors');
    expect([
      ...text.matchAll(/<title>1 jobs failed, over time<\/title>.*?d="M\d+ 20h8v-4h-8z"/gs),
    ]).to.have.length(3);
  });

  it('names the version that was the latest when an error was first seen', async () => {
    const text = textOf((await recurred.http.get('/job-dashboard/errors')).text);
    expect(text).to.match(/CardDeclinedError.*first seen 2 h( \d+ min)? ago ?, after 2\.4\.0 was deployed/);
  });

  it('offers to mute the warning about an error, and then shows it last, with the reason', async () => {
    const { storage } = recurred.story;
    await storage.incidents.observe([
      {
        kind: 'type-fails',
        key: 'job type charge-card fails',
        subject: 'type charge-card',
        text: 'Job type “charge-card” fails.',
        advice: '',
        link: 'types/charge-card',
        beganAt: null,
        isMeasured: true,
        isRecovering: false,
      },
    ]);
    const [incident] = await storage.incidents.list({ isActive: true, limit: 1 });
    const { text } = await recurred.http.get('/job-dashboard/errors');
    expect(text).to.include(`action="./incidents/${incident?.id}/mute"`);
    const until = new Date(storage.clock.now() + 3_600_000);
    await storage.incidents.mute(incident?.id ?? '', { until, by: 'ann', reason: 'bank is down' });
    const muted = textOf((await recurred.http.get('/job-dashboard/errors?order=jobs')).text);
    expect(muted).to.match(/MailboxFullError.*CardDeclinedError.*Muted until .* by ann : bank is down/);
  });

  it('marks lower bounds, and the dialog shows how many jobs it retries', async () => {
    const group: ErrorGroup = {
      name: 'flood',
      fingerprint: 'HttpError: upstream said <n>',
      count: 2_030,
      retryable: 2_000,
      failedExact: false,
      waitingExact: true,
      firstSeenAt: new Date(0),
      lastSeenAt: new Date(0),
      message: 'upstream said 503',
      exampleId: '019ca000-0000-7000-8000-000000000001',
      course: [],
    };
    const ownSite = await openSite({
      control: ({ storage }) => storage,
      read: ({ storage }) =>
        overriding(storage, {
          statistics: {
            throughput: (query) => storage.statistics.throughput(query),
            throughputByQueue: (query) => storage.statistics.throughputByQueue(query),
            listErrorGroups: async () => ({ groups: [group], complete: false }),
          },
        }),
    });
    try {
      const text = textOf((await ownSite.http.get('/job-dashboard/errors')).text);
      expect(text).to.match(/upstream said 503 .* 2,000\+ 30 .*Retry… Delete… There may be more errors/);
      expect(text).not.to.match(/Retry [\d,]/);
    } finally {
      await ownSite.close();
    }
  });
});

describe('the overview with many failures', () => {
  it('names the job type and error of most failures, not of the latest', async () => {
    const site = await openSite();
    try {
      const { storage, serverId } = site.story;
      const fail = async (queue: string, message: string): Promise<void> => {
        await storage.add({ name: 'fetch', queue, maxAttempts: 1 });
        const error = { name: 'HttpError', message, stack: null };
        await storage.end(await storage.start(serverId, queue), { kind: 'failed', error });
      };
      for (let n = 0; n < 30; n++) await fail('bulk', 'upstream said 503');
      await fail('other', 'connection closed');
      const text = textOf((await site.http.get('/job-dashboard/')).text);
      expect(text).to.match(
        /Job type “fetch” has been failing since .+: 31 attempts failed, 100 % of the latest 31\. 31 jobs that failed in the last 10 minutes have not succeeded since: 30 of these 31 had errors like HttpError: upstream said 503/,
      );
    } finally {
      await site.close();
    }
  });
});
