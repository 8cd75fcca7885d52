import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, pagePaths, type Site } from './dashboard-site.js';
import { openStream, readUntil } from './event-stream.js';
import { hostileReader, hostileTexts } from './hostile-reader.js';

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

      const expectHarmless = (html: string, where: string): void => {
        expect(html.includes(text), where.slice(0, 80)).to.equal(false);
        expect(html.toLowerCase(), where).not.to.match(/<(img|svg onload|script>|iframe|x7)/);
        expect(html, where).not.to.match(/href="[^"]*javascript:/i);
      };

      it('from the storage reaches no page unescaped', async () => {
        for (const path of [...pagePaths(site.story), `/queues/${encodeURIComponent(text)}`]) {
          const page = await site.http.get(`/job-dashboard${path}`);
          expect(page.status, path).to.equal(path.includes('%00') ? 400 : 200);
          expectHarmless(page.text, path);
        }
      });

      it('from the storage reaches no fragment of a page unescaped', async () => {
        let requests = 0;
        for (const path of [...pagePaths(site.story), `/queues/${encodeURIComponent(text)}`]) {
          const { text: page } = await site.http.get(`/job-dashboard${path}`);
          if (path.includes('%00')) continue; // no address
          for (const [, name = ''] of page.matchAll(/data-region="([^"]+)"/g)) {
            const headers = { 'longshore-region': name };
            const fragment = await site.http.get(`/job-dashboard${path}`, { headers });
            expect([fragment.status, fragment.text.includes('<html')], path).to.deep.equal([200, false]);
            expect(fragment.text, path).to.include(`data-region="${name}"`);
            expectHarmless(fragment.text, `${name} of ${path}`);
            requests += 1;
          }
        }
        expect(requests).to.be.above(pagePaths(site.story).length);
      });

      it('from the storage reaches no stream unescaped, and makes no event of its own', async () => {
        const { url, story } = site;
        const response = await openStream(`${url}/job-dashboard/jobs/${story.processingId}/stream`);
        const streamed = await readUntil(response, '\n\nevent: progress\ndata: ');
        const lines = streamed.split(/\r\n|\r|\n/).filter(Boolean);
        expect(lines.filter((line) => !/^(retry|id|event|data): /.test(line))).to.deep.equal([]);
        expect(lines.filter((line) => line.startsWith('event: '))).to.deep.equal([
          'event: log',
          'event: progress',
        ]);
        const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
        const html = data.map((fragment) => String(JSON.parse(fragment)));
        expect(html).to.have.length(2);
        for (const fragment of html) {
          expect(fragment).to.match(/x7|alert/);
          expectHarmless(fragment, 'stream');
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

  it('shows a very deeply nested document', async () => {
    const document = '['.repeat(5_000) + ']'.repeat(5_000);
    const site = await openSite({
      read: ({ storage }) =>
        overriding(storage, { jobs: { findDocuments: async () => ({ args: document, result: document }) } }),
    });
    try {
      expect((await site.http.get(`/job-dashboard/jobs/${site.story.doneId}`)).status).to.equal(200);
    } finally {
      await site.close();
    }
  });
});
