import { expect } from 'chai';
import type { OperableStorage } from '@longshore/jobs/operations';
import type { AuditEntry } from '@longshore/jobs/storage';
import { type HttpResponse, overriding, type Overrides } from '@longshore/test-support';
import type { AccessRecord, ActionRecord, Role } from '../src/index.js';
import { openSite, type Site, textOf } from './dashboard-site.js';

/** The `confirmed` form field of a confirmation page that showed two jobs. */
const confirmed = JSON.stringify({
  count: { count: 2, exact: true },
  asOf: '2100-01-01T00:00:00.000Z',
  oldestSearchedIds: {},
});

describe('the audit', () => {
  let site: Site;
  let overrides: Overrides<OperableStorage>;
  let role: Role;
  let records: ActionRecord[];
  let accesses: AccessRecord[];
  beforeEach(async () => {
    overrides = {};
    role = 'admin';
    records = [];
    accesses = [];
    site = await openSite({
      authorize: () => ({ name: 'ada', role }),
      onAction: (record) => records.push(record),
      onAccess: (record) => accesses.push(record),
      control: ({ storage }) => overridden(storage),
    });
  });
  afterEach(() => site.close());

  /** Wraps the storage so that each access applies the current `overrides`. A test can change them at any time. */
  const overridden = (storage: OperableStorage): OperableStorage =>
    new Proxy(storage, {
      get: (_, name): unknown => Reflect.get(overriding<OperableStorage>(storage, overrides), name),
    });
  const act = async (path: string, fields: Record<string, string> = {}): Promise<HttpResponse> => {
    const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.failedId}`);
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(text) ?? [];
    return site.http.post(`/job-dashboard${path}`, new URLSearchParams({ token, ...fields }).toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  };
  const latest = async (): Promise<AuditEntry | undefined> =>
    (await site.story.storage.audit.list({ limit: 1 }))[0];
  /** Returns the text of the list, without the form of its filters, which names all actions. */
  const page = async (query = ''): Promise<string> => {
    const { text } = await site.http.get(`/job-dashboard/audit${query}`);
    return textOf(text.replace(/<form class="fields".*?<\/form>/s, ''));
  };

  it('has no entry of an action that was not carried out', async () => {
    const before = await latest();
    overrides = { control: { retry: () => Promise.reject(new Error('gone')) } };
    expect((await act(`/jobs/${site.story.failedId}/retry`)).status).to.equal(500);
    expect(await latest()).to.deep.equal(before);
  });

  it('shows that a rejected action changed nothing, and why', async () => {
    await act(`/jobs/${site.story.doneId}/cancel`);
    expect((await latest())?.filter).to.include({
      outcome: 'refused',
      why: 'This job cannot be cancelled: it is done',
    });
    expect(await page()).to.include('refused; nothing was changed');
  });

  it('shows the address', async () => {
    await act('/queues/mail/pause');
    expect((await latest())?.filter).to.deep.equal({ address: '127.0.0.1' });
  });

  for (const [path, twice] of [
    ['/queues/mail/pause', true],
    ['/queues/mail/resume', false],
    ['/servers/:server/quiet', true],
  ] as const) {
    it(`distinguishes ${path} without effect from one with effect`, async () => {
      const target = path.replace(':server', site.story.serverId);
      if (twice) {
        await act(target);
        expect((await latest())?.filter).not.to.have.property('outcome');
      }
      await act(target);
      const entry = await latest();
      const filter = { outcome: 'without effect', address: '127.0.0.1' };
      expect(entry).to.deep.include({ count: 0, filter });
    });
  }

  it('shows which jobs a bulk action selected, with links unless it deletes them', async () => {
    const { failedId, doneId, scheduledId, processingId } = site.story;
    const ids = [failedId, doneId, scheduledId, processingId];
    const [one, two, three] = ids.map((id) => id.slice(-8));
    for (const [action, linked] of Object.entries({ retry: true, delete: false })) {
      await act(`/bulk-${action}`, { which: ids.map((id) => `id=${id}`).join('&'), confirmed });
      expect(await page()).to.include(`selected jobs ${one} ${two} ${three} and 1 more`);
      const { text } = await site.http.get(`/job-dashboard/audit?action=bulk/${action}`);
      expect(new RegExp(`href="[^"]*jobs/${doneId}"`).test(text)).to.equal(linked);
    }
  });

  it('links to the targets of actions, except those that the action deleted or that have no page', async () => {
    const { audit } = site.story.storage;
    const links = {
      'queues/pause': true,
      'queues/create': true,
      'recurring/edit': true,
      'queues/delete': false,
      'deployments/delete': false,
      'deployments/record': false,
      'searches/save': false,
      'keys/create': false,
      'another-program/act': false,
    };
    for (const action of Object.keys(links))
      await audit.record({ who: 'ada', action, target: 'gone', filter: null, count: 1 });
    for (const [action, linked] of Object.entries(links)) {
      const { text } = await site.http.get(`/job-dashboard/audit?action=${encodeURIComponent(action)}`);
      expect(/href="[^"]*\/gone"/.test(text), action).to.equal(linked);
    }
  });

  it('does not record a stop of a finished operation', async () => {
    const { storage } = site.story;
    const { id } = await storage.bulk.start({ action: 'retry', filter: { state: ['failed'] } });
    while (await storage.bulk.advance());
    expect((await act(`/bulk/${id}/stop`)).status).to.equal(409);
    expect((await latest())?.filter).to.include({ outcome: 'refused' });
  });

  it('records the limits set on a queue', async () => {
    await act('/queues/mail/limit', { concurrency: '5', jobs: '10', seconds: '2' });
    const values = { concurrencyLimit: 5, rateLimit: { jobs: 10, periodMs: 2_000 } };
    expect((await latest())?.filter).to.deep.include({ values });
    expect(records.at(-1)?.values).to.deep.equal(values);
  });

  it('records the previous limits of a queue and time of a job', async () => {
    const first = { concurrencyLimit: 5, rateLimit: { jobs: 10, periodMs: 2_000 } };
    await act('/queues/mail/limit', { concurrency: '5', jobs: '10', seconds: '2' });
    expect((await latest())?.filter).to.deep.include({ before: { concurrencyLimit: null, rateLimit: null } });
    await act('/queues/mail/limit', { concurrency: '6', jobs: '10', seconds: '2' });
    expect((await latest())?.filter).to.deep.include({ before: first });
    expect(records.at(-1)?.before).to.deep.equal(first);
    const { scheduledId, storage } = site.story;
    const runAt = (await storage.jobs.find(scheduledId))?.runAt?.toISOString();
    await act(`/jobs/${scheduledId}/reschedule`, { at: '2026-03-03T08:00' });
    expect((await latest())?.filter).to.deep.include({ before: { runAt } });
  });

  it('shows old and new values, and omits unchanged ones', async () => {
    await act('/queues/mail/limit', { concurrency: '5', jobs: '10', seconds: '2' });
    await act('/queues/mail/limit', { concurrency: '6', jobs: '10', seconds: '2' });
    const text = await page();
    expect(text).to.include('mail at once 5 → 6 done');
    expect(text).to.include('mail at once none → 5, starts none → 10 per 2 s done');
  });

  it('records a job’s new time', async () => {
    await act(`/jobs/${site.story.scheduledId}/reschedule`, { at: '2026-03-03T08:00' });
    expect((await latest())?.filter).to.deep.include({ values: { runAt: '2026-03-03T08:00:00.000Z' } });
    expect(await page()).to.include('→ 2026-03-03 08:00:00.000 UTC');
  });

  it('rejects relative times as a job’s new time', async () => {
    expect((await act(`/jobs/${site.story.scheduledId}/reschedule`, { at: '2h' })).status).to.equal(422);
  });

  for (const [matched, count, shown] of [
    [null, 0, 'Started retrying jobs, not counted'],
    [{ count: 10_000, exact: false }, 10_000, 'Started retrying 10,000+ jobs'],
  ] as const) {
    it(`shows how exact a count is: ${shown}`, async () => {
      const { bulk } = site.story.storage;
      overrides = {
        bulk: {
          start: (order, options) =>
            bulk.start(order, {
              audit: (operation) =>
                options?.audit?.({ ...operation, matched }) ?? expect.fail('No audit entry'),
            }),
        },
      };
      await act('/bulk-retry', { which: 'state=failed', confirmed });
      expect((await latest())?.count).to.equal(count);
      expect(await page()).to.include(shown);
      expect(records.at(-1)).to.include({ count: matched?.count ?? null, exact: false });
    });
  }

  it('can be filtered by user, action and target', async () => {
    await act(`/jobs/${site.story.failedId}/retry`);
    await act('/queues/mail/pause');
    expect(await page(`?target=${site.story.failedId}`))
      .to.include('Retried job')
      .and.not.include('Paused queue');
    expect(await page('?action=queues/pause')).not.to.include('Retried job');
    expect(await page('?who=nobody')).to.include('No entries match');
  });

  it('can be filtered by time, also as an age', async () => {
    await act(`/jobs/${site.story.failedId}/retry`);
    site.story.storage.manualClock.advance(3 * 3_600_000);
    await act('/queues/mail/pause');
    expect(await page('?since=2h'))
      .to.include('Paused queue')
      .and.not.include('Retried job');
    expect(await page('?until=2h'))
      .to.include('Retried job')
      .and.not.include('Paused queue');
    expect((await site.http.get('/job-dashboard/audit?since=soon')).status).to.equal(400);
  });

  it('offers its filters as a form', async () => {
    const { text } = await site.http.get('/job-dashboard/audit?action=queues/pause&who=ada');
    expect(text).to.contain('<option value="queues/pause" selected>Paused queue</option>');
    expect(text).to.contain('name="who" value="ada"');
  });

  it('comes with records of rejected requests for the application', async () => {
    const { failedId } = site.story;
    role = 'viewer';
    await act(`/jobs/${failedId}/retry`);
    const path = `/job-dashboard/jobs/${failedId}/retry`;
    expect(accesses).to.deep.equal([
      {
        event: 'refused',
        address: '127.0.0.1',
        viewer: { name: 'ada', role: 'viewer' },
        method: 'POST',
        path,
        why: 'You are not allowed to do this',
      },
    ]);
  });
});

describe('a dashboard with a password', () => {
  it('reports sign-ins and wrong passwords to the application', async () => {
    const accesses: AccessRecord[] = [];
    const site = await openSite({ password: 'right', onAccess: (record) => accesses.push(record) });
    try {
      const basic = (text: string) => ({
        headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
      });
      const { text } = await site.http.get('/job-dashboard/', basic('ada:wrong'));
      const [, token = ''] = /name="token" value="([^"]+)"/.exec(text) ?? [];
      for (const password of ['wrong', 'right']) {
        await site.http.post('/job-dashboard/sign-in', new URLSearchParams({ token, password }).toString(), {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        });
      }
      expect(accesses.map(({ event, viewer }) => [event, viewer?.name ?? null])).to.deep.equal([
        ['wrong password', null],
        ['wrong password', null],
        ['signed in', 'admin'],
      ]);
    } finally {
      await site.close();
    }
  });

  it('rejects forms by HTTP Basic authentication with a token of its sign-in page', async () => {
    const site = await openSite({ password: 'right', control: ({ storage }) => storage });
    try {
      const { text } = await site.http.get('/job-dashboard/');
      const [, token = ''] = /name="token" value="([^"]+)"/.exec(text) ?? [];
      const authorization = `Basic ${Buffer.from('eve:right').toString('base64')}`;
      const { status } = await site.http.post(
        '/job-dashboard/queues/mail/pause',
        new URLSearchParams({ token }).toString(),
        { headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' } },
      );
      expect(status).to.equal(403);
    } finally {
      await site.close();
    }
  });

  it('records in the audit that a name was only claimed', async () => {
    const site = await openSite({ password: 'right', control: ({ storage }) => storage });
    try {
      const authorization = `Basic ${Buffer.from('eve:right').toString('base64')}`;
      const { text } = await site.http.get('/job-dashboard/queues/mail', { headers: { authorization } });
      const [, token = ''] = /name="token" value="([^"]+)"/.exec(text) ?? [];
      await site.http.post('/job-dashboard/queues/mail/pause', new URLSearchParams({ token }).toString(), {
        headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      });
      const [entry] = await site.story.storage.audit.list({ limit: 1 });
      expect(entry).to.deep.include({ who: 'eve', filter: { address: '127.0.0.1', unverified: true } });
    } finally {
      await site.close();
    }
  });
});
