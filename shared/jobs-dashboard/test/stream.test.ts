import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { newId } from '@longshore/jobs/storage';
import { eventually, overriding } from '@longshore/test-support';
import { openSite, type Site } from './dashboard-site.js';
import { openStream, readUntil } from './event-stream.js';

describe('the log of a running job', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite();
  });
  afterEach(() => site.close());

  /** Reads the log stream until it contains `until` or ends, then disconnects. Returns what has been read. */
  const streamed = async (until: string, query = '', headers = {}): Promise<string> => {
    const path = `${site.url}/job-dashboard/jobs/${site.story.processingId}/stream${query}`;
    const response = await openStream(path, headers);
    expect(response.headers).to.include({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    return readUntil(response, until);
  };

  it('is shown on its page, with secrets redacted', async () => {
    const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.processingId}`);
    expect(text).to.include('Page 90 of 214').and.include('42 %').and.include('apiToken=redacted');
    expect(text).not.to.include('tok_9911');
  });

  it('is streamed as server-sent events: lines first, then progress', async () => {
    const text = await streamed('event: progress');
    expect(text.match(/^event: .*$/gm)).to.deep.equal(['event: log', 'event: progress']);
    expect(text).to.include('Article without a price').and.not.include('tok_9911');
  });

  it('continues after the last line that the browser has', async () => {
    const [, id = ''] = /^id: (.*)$/m.exec(await streamed('event: log')) ?? [];
    expect(await streamed('event: progress', '', { 'last-event-id': id })).not.to.include('event: log');
    expect(await streamed('event: progress', `?after=${id}`)).not.to.include('event: log');
  });

  it('ends with the job', async () => {
    const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.doneId}/stream`);
    expect(text).to.include('event: end');
  });

  it('is not streamed for a job that is not running', async () => {
    for (const id of [site.story.scheduledId, site.story.awaitingId, site.story.enqueuedId]) {
      expect((await site.http.get(`/job-dashboard/jobs/${id}/stream`)).status).to.equal(204);
    }
  });

  it('stops with the attempt, without reporting the job as finished', async () => {
    const { storage, processingId } = site.story;
    const response = await opened(site, processingId);
    const job = await storage.jobs.find(processingId);
    const claim = { jobId: processingId, queue: 'default', serverId: job?.serverId ?? '', attempt: 2 };
    const error = { name: 'Error', message: 'again', stack: null };
    await storage.completions.complete([{ claim, outcome: { kind: 'retry', error, delayMs: 60_000 } }]);
    expect(await text(response)).not.to.include('event: end');
  });

  it('stops without another look at the job when the server closes', async () => {
    const closing = new AbortController();
    let reads = 0;
    const other = await openSite({
      closing: closing.signal,
      read: ({ storage }) =>
        overriding(storage, { jobs: { find: (id) => ((reads += 1), storage.jobs.find(id)) } }),
    });
    try {
      const response = await opened(other, other.story.processingId);
      closing.abort();
      const readsUntilClosing = reads;
      await text(response);
      expect(reads).to.equal(readsUntilClosing);
      const again = await opened(other, other.story.processingId);
      expect(again.statusCode).to.equal(503);
    } finally {
      await other.close();
    }
  });

  it('is streamed to a limited number of viewers, whose places become free again', async () => {
    const other = await openSite({ maxStreams: 1 });
    try {
      const first = await opened(other, other.story.processingId);
      expect((await opened(other, other.story.processingId)).statusCode).to.equal(503);
      first.destroy();
      await eventually(async () => {
        const next = await opened(other, other.story.processingId);
        next.destroy();
        return next.statusCode === 200;
      });
    } finally {
      await other.close();
    }
  });

  it('is 404 for an unknown job', async () => {
    expect((await site.http.get(`/job-dashboard/jobs/${newId()}/stream`)).status).to.equal(404);
  });

  it('is streamed only to viewers who are allowed in', async () => {
    const closed = await openSite({ authorize: () => null });
    try {
      const path = `/job-dashboard/jobs/${closed.story.processingId}/stream`;
      expect((await closed.http.get(path)).status).to.equal(403);
    } finally {
      await closed.close();
    }
  });
});

async function opened({ url }: Site, id: string): Promise<IncomingMessage> {
  return openStream(`${url}/job-dashboard/jobs/${id}/stream`);
}
