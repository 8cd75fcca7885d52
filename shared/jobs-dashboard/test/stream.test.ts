import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { expect } from 'chai';
import { newId } from '@longshore/jobs';
import { openSite, type Site } from './dashboard-site.js';

describe('what a running job says', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite();
  });
  afterEach(() => site.close());

  /** Reads until the text has come, and goes away. */
  const streamed = async (until: string, query = '', headers = {}): Promise<string> => {
    const path = `${site.url}/job-dashboard/jobs/${site.story.processingId}/stream${query}`;
    const asked = request(path, { headers }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    expect(response.headers).to.include({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    let text = '';
    for await (const chunk of response) {
      text += String(chunk);
      if (text.includes(until)) break;
    }
    return text;
  };

  it('stands on its page, without what looks like a secret', async () => {
    const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.processingId}`);
    expect(text).to.include('Page 90 of 214').and.include('42 %').and.include('apiToken=redacted');
    expect(text).not.to.include('tok_9911');
  });

  it('comes as server-sent events, the log line by line and then how far it is', async () => {
    const text = await streamed('event: progress');
    expect(text.match(/^event: .*$/gm)).to.deep.equal(['event: log', 'event: progress']);
    expect(text).to.include('Article without a price').and.not.include('tok_9911');
  });

  it('goes on after the line that the browser has got', async () => {
    const [, id = ''] = /^id: (.*)$/m.exec(await streamed('event: log')) ?? [];
    expect(await streamed('event: progress', '', { 'last-event-id': id })).not.to.include('event: log');
    expect(await streamed('event: progress', `?after=${id}`)).not.to.include('event: log');
  });

  it('ends with the job', async () => {
    const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.doneId}/stream`);
    expect(text).to.include('event: end');
  });

  it('is not there for a job that is not', async () => {
    expect((await site.http.get(`/job-dashboard/jobs/${newId()}/stream`)).status).to.equal(404);
  });

  it('is for those only who may look', async () => {
    const closed = await openSite({ authorize: () => null });
    try {
      const path = `/job-dashboard/jobs/${closed.story.processingId}/stream`;
      expect((await closed.http.get(path)).status).to.equal(403);
    } finally {
      await closed.close();
    }
  });
});
