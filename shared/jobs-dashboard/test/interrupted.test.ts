import { StorageUnavailableError } from '@longshore/jobs';
import { newId } from '@longshore/jobs/storage';
import type { HttpResponse } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

/** The `confirmed` form field of a confirmation page that showed two jobs. */
const confirmed = JSON.stringify({
  count: { count: 2, exact: true },
  asOf: '2100-01-01T00:00:00.000Z',
  oldestSearchedIds: {},
});

describe('an interrupted action', () => {
  const away = new StorageUnavailableError('away');
  let site: Site;
  /** The step at which the action fails, and the error; `null` if the action does not fail. */
  let failing: { readonly step: 'begin' | 'commit'; readonly error: Error } | null = null;

  beforeEach(async () => {
    failing = null;
    const failIn = (step: string): void => {
      if (failing?.step === step) throw failing.error;
    };
    site = await openSite({
      cacheMs: 60_000,
      control: ({ storage }) => {
        const pauseQueue = storage.queues.pause.bind(storage.queues);
        storage.queues.pause = async (...args) => {
          failIn('begin');
          const before = await pauseQueue(...args);
          failIn('commit');
          return before;
        };
        const startBulk = storage.bulk.start.bind(storage.bulk);
        storage.bulk.start = async (...args) => {
          failIn('begin');
          return startBulk(...args);
        };
        return storage;
      },
    });
  });
  afterEach(() => site.close());

  async function post(path: string, token?: string): Promise<HttpResponse> {
    const page = await site.http.get(`/job-dashboard/jobs/${site.story.failedId}`);
    const [, pageToken = ''] = /name="token" value="([^"]+)"/.exec(page.text) ?? [];
    const form = new URLSearchParams({
      token: token ?? pageToken,
      which: 'state=failed',
      confirmed,
    }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return site.http.post(`/job-dashboard${path}`, form, { headers });
  }
  const pausedAt = async () => (await site.story.storage.queues.find('mail'))?.pausedAt ?? null;

  it('reports that nothing was changed if it could not begin, with a link back', async () => {
    failing = { step: 'begin', error: away };
    const { status, text } = await post('/queues/mail/pause');
    expect([status, await pausedAt()]).to.deep.equal([503, null]);
    expect(textOf(text))
      .to.include('was not carried out. Nothing was changed')
      .and.include('Back to the queue');
    expect(text).to.include('href="../../queues/mail"').and.not.include('Reload');
  });

  it('reports an unknown result if the storage became unreachable during the action', async () => {
    failing = { step: 'commit', error: away };
    const { status, text } = await post('/queues/mail/pause');
    expect(status).to.equal(503);
    expect(textOf(text)).to.include('It is not known whether the action was carried out');
    expect(text).to.include('href="../../queues/mail"');
  });

  it('is followed by pages that show the current state, not a cached one', async () => {
    const shown = async () => textOf((await site.http.get('/job-dashboard/queues/mail')).text);
    expect(await shown()).not.to.include('It was paused');
    failing = { step: 'commit', error: away };
    await post('/queues/mail/pause');
    expect(await shown()).to.match(/queue “mail” was paused|It was paused/);
  });

  it('reports an unknown result with the incident after any other error', async () => {
    failing = { step: 'commit', error: new Error('a bug') };
    const { status, text } = await post('/queues/mail/pause');
    expect([status, site.errors.length]).to.deep.equal([500, 1]);
    expect(textOf(text)).to.match(/It is not known .* under incident [0-9a-f]{8}\./);
  });

  it('links from a deleted target to its history', async () => {
    const gone = newId();
    const { status, text } = await post(`/jobs/${gone}/retry`);
    expect(status).to.equal(404);
    expect(textOf(text)).to.include('Nothing was changed').and.include('History');
    expect(text).to.include(`href="../../audit?target=${gone}"`);
  });

  it('links back if the state does not allow the action', async () => {
    const { doneId } = site.story;
    const { status, text } = await post(`/jobs/${doneId}/cancel`);
    expect(status).to.equal(409);
    expect(textOf(text)).to.include('Nothing was changed').and.include('Back to the job');
    expect(text).to.include(`href="../../jobs/${doneId}"`);
  });

  it('links back from a stale form', async () => {
    const { status, text } = await post('/queues/mail/pause', 'stale');
    expect(status).to.equal(403);
    expect(textOf(text)).to.include('Nothing was changed').and.include('Back to the queue');
  });

  it('links from a bulk action to the bulk actions', async () => {
    failing = { step: 'begin', error: away };
    const { text } = await post('/bulk-retry');
    expect(textOf(text)).to.include('Bulk actions');
    expect(text).to.match(/href="(\.\/)?bulk"/);
  });

  it('redirects back if its address is opened as a page', async () => {
    const { status, text } = await site.http.get('/job-dashboard/queues/mail/pause');
    expect([status, textOf(text).includes('Back to the queue')]).to.deep.equal([405, true]);
  });
});
