import { expect } from 'chai';
import type { HttpResponse } from '@longshore/test-support';
import { actions } from '../src/actions/actions.js';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the result of an action', () => {
  let site: Site;
  let name: string;
  beforeEach(async () => {
    name = 'ada';
    site = await openSite({
      authorize: () => ({ name, role: 'admin' }),
      control: ({ storage }) => storage,
    });
  });
  afterEach(() => site.close());

  const get = (path: string): Promise<HttpResponse> => site.http.get(path);
  /** Submits an action form. Returns the path and query of the redirect. */
  const act = async (path: string, fields: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { text } = await get(`/job-dashboard/jobs/${site.story.failedId}`);
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(text) ?? [];
    const { headers } = await site.http.post(
      `/job-dashboard${path}`,
      new URLSearchParams({ token, ...fields }).toString(),
      { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    );
    const { pathname, search } = new URL(
      headers.location ?? '',
      `http://dashboard.test/job-dashboard${path}`,
    );
    return pathname + search;
  };
  const saidAt = async (path: string): Promise<string | null> => {
    const [, said = null] =
      /<p class="state tone-done" role="status" tabindex="-1">(.*?)<\/p>/s.exec((await get(path)).text) ?? [];
    return said === null ? null : textOf(said).trim();
  };

  it('is shown on the page that it redirects to', async () => {
    const next = await act(`/jobs/${site.story.failedId}/retry`);
    expect(await saidAt(next)).to.equal('The job will run again.');
  });

  it('says how many jobs a retry with its dependents has changed, as the audit does', async () => {
    const { storage, failedId } = site.story;
    const child = await storage.add({ name: 'send-receipt', after: failedId });
    await storage.add({ name: 'archive-receipt', after: child });
    while ((await storage.maintenance.resolveDependencies()) > 0);
    const next = await act(`/jobs/${failedId}/retry`, { dependents: 'on' });
    expect(await saidAt(next)).to.equal('The job will run again. With its dependents, 3 jobs changed.');
    const [entry] = await storage.audit.list({ limit: 1 });
    expect(entry).to.include({ action: 'jobs/retry', target: failedId, count: 3 });
  });

  it('is shown on lists too', async () => {
    await site.story.storage.queues.resume('unused'); // creates the queue
    const next = await act('/queues/unused/delete');
    expect(await saidAt(next)).to.equal('The queue is deleted. Its finished jobs are kept.');
  });

  it('differs from that of an action without effect', async () => {
    expect(await saidAt(await act('/queues/mail/pause'))).to.match(/^The queue is paused/);
    expect(await saidAt(await act('/queues/mail/pause'))).to.equal('No change was needed.');
  });

  it('is not shown later, to anybody else, or by a forged link', async () => {
    const next = await act(`/jobs/${site.story.failedId}/retry`);
    name = 'eve';
    expect(await saidAt(next)).to.equal(null);
    name = 'ada';
    expect(await saidAt(next.replace(/retry/, 'delete'))).to.equal(null);
    site.story.storage.manualClock.advance(20_001);
    expect(await saidAt(next)).to.equal(null);
  });

  it('is shown for targets without a page of their own', () => {
    const silent = actions.filter(({ operation }) => operation.message === undefined).map(({ path }) => path);
    expect(silent).to.deep.equal([
      '/jobs/:target/delete',
      '/bulk-cancel',
      '/bulk-retry',
      '/bulk-run',
      '/bulk-reschedule',
      '/bulk-rename',
      '/bulk-delete',
    ]);
  });
});
