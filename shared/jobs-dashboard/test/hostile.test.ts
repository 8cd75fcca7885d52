import { expect } from 'chai';
import type { Job, JsonValue } from '@longshore/jobs';
import { openSite, pagePaths, type Site } from './dashboard-site.js';
import { hostileReader, hostileTexts } from './hostile-reader.js';
import { readerWith } from './reader-with.js';

describe('hostile text', () => {
  for (const text of hostileTexts) {
    describe(JSON.stringify(text.slice(0, 40)), () => {
      let site: Site;
      before(async () => {
        site = await openSite({ read: ({ storage }) => hostileReader(storage, text) });
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

      it('moves no redirect to another site', async () => {
        const { headers } = await site.http.get(`/job-dashboard/jobs?q=${encodeURIComponent(`"${text}"`)}`);
        const target = new URL(headers.location ?? './', 'http://dashboard.test/job-dashboard/jobs');
        expect(target.host).to.equal('dashboard.test');
      });
    });
  }

  it('shows a document nested deeper than anyone reads', async () => {
    let args: JsonValue = 1;
    for (let depth = 0; depth < 5_000; depth += 1) args = [args];
    const deep = async (job: Promise<Job | null>): Promise<Job | null> => {
      const found = await job;
      return found === null ? null : { ...found, args };
    };
    const site = await openSite({
      read: ({ storage }) => readerWith(storage, { findJob: (id) => deep(storage.findJob(id)) }),
    });
    try {
      expect((await site.http.get(`/job-dashboard/jobs/${site.story.doneId}`)).status).to.equal(200);
    } finally {
      await site.close();
    }
  });
});
