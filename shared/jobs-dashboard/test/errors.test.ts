import { expect } from 'chai';
import { openSite, textOf } from './dashboard-site.js';
import { cardError } from './story-errors.js';

describe('the page of errors', () => {
  it('retries a group as far back as it shows it', async () => {
    const site = await openSite({ control: ({ storage }) => storage });
    try {
      const { storage, serverId } = site.story;
      storage.manualClock.advance(2 * 3_600_000);
      await storage.add({ name: 'charge-card', queue: 'billing', maxAttempts: 1 });
      await storage.end(await storage.start(serverId, 'billing'), { kind: 'failed', error: cardError });
      const confirmed = async (since: string): Promise<string> => {
        const { text } = await site.http.get(`/job-dashboard/errors?since=${since}`);
        const [, link = ''] = /<a href="\.\/(bulk\/confirm[^"]*)">Retry/.exec(text) ?? [];
        return textOf((await site.http.get(`/job-dashboard/${link.replaceAll('&amp;', '&')}`)).text);
      };
      expect(await confirmed('1h')).to.match(/1 job at the moment: .*finished-after:2026-03-01T15:05/);
      expect(await confirmed('24h')).to.match(/2 jobs at the moment: .*finished-after:2026-02-28T16:05/);
    } finally {
      await site.close();
    }
  });
});
