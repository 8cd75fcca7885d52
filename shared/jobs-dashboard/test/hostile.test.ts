import { expect } from 'chai';
import { openSite, pagePaths, type Site } from './dashboard-site.js';
import { hostileReader, hostileTexts } from './hostile-reader.js';
import { readerWith } from './reader-with.js';

describe('hostile text', () => {
  for (const text of hostileTexts) {
    describe(JSON.stringify(text.slice(0, 40)), () => {
      let site: Site;
      before(async () => {
        site = await openSite({
          read: ({ storage }) => hostileReader(storage, text),
          control: ({ storage }) => storage,
        });
      });
      after(() => site.close());

      it('from the storage reaches no page unescaped', async () => {
        for (const path of [...pagePaths(site.story), `/queues/${encodeURIComponent(text)}`]) {
          const page = await site.http.get(`/job-dashboard${path}`);
          expect(page.status, path).to.equal(200);
          expect(page.text.includes(text), path.slice(0, 80)).to.equal(false);
          expect(page.text.toLowerCase(), path).not.to.match(/<(img|svg onload|script>|iframe|x7)/);
          expect(page.text, path).not.to.match(/href="[^"]*javascript:/i);
        }
      });

      it('from the path or the query reaches no page unescaped', async () => {
        const encoded = encodeURIComponent(text);
        const paths = [
          `/${encoded}`,
          `/jobs/${encoded}`,
          `/queues/${encoded}x`,
          `/jobs?q=${encoded}`,
          `/jobs?q=tag:${encoded}`,
        ];
        const parameters = ['state', 'queue', 'name', 'after', 'before', 'order', 'sort', 'page'];
        for (const path of [
          ...paths,
          ...parameters.map((name) => `/jobs?${name}=${encoded}`),
          `/queues?sort=${encoded}`,
        ]) {
          const page = await site.http.get(`/job-dashboard${path}`);
          expect(page.status, path).to.be.below(500);
          expect(page.text.includes(text), path.slice(0, 80)).to.equal(false);
        }
      });

      it('in the fields of a form changes nothing, and reaches no page unescaped', async () => {
        const { text: page } = await site.http.get(`/job-dashboard/servers/${site.story.serverId}`);
        const [, token = ''] = /name="token" value="([^"]+)"/.exec(page) ?? [];
        const paths = [`/jobs/${site.story.failedId}/reschedule`, '/queues/mail/limit', '/bulk-retry'];
        for (const path of paths) {
          const fields = { token, at: text, concurrency: text, which: `state=${encodeURIComponent(text)}` };
          const answer = await site.http.post(
            `/job-dashboard${path}`,
            new URLSearchParams(fields).toString(),
            { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
          );
          expect(answer.status, path).to.be.within(400, 422).and.not.equal(403);
          expect(answer.text.includes(text), path).to.equal(false);
        }
      });

      it('moves no redirect to another site', async () => {
        const { headers } = await site.http.get(`/job-dashboard/jobs?q=${encodeURIComponent(`"${text}"`)}`);
        const target = new URL(headers.location ?? './', 'http://dashboard.test/job-dashboard/jobs');
        expect(target.host).to.equal('dashboard.test');
      });
    });
  }

  it('shows a document nested deeper than anyone reads', async () => {
    const document = '['.repeat(5_000) + ']'.repeat(5_000);
    const site = await openSite({
      read: ({ storage }) =>
        readerWith(storage, { findDocuments: async () => ({ args: document, result: document }) }),
    });
    try {
      expect((await site.http.get(`/job-dashboard/jobs/${site.story.doneId}`)).status).to.equal(200);
    } finally {
      await site.close();
    }
  });
});
