import { expect } from 'chai';
import type { HttpResponse } from '@longshore/test-support';
import { newId } from '@longshore/jobs/storage';
import { actions } from '../src/actions/actions.js';
import { versionOf } from '../src/actions/job-edits.js';
import { hasRole, type Role, roles } from '../src/auth/authenticator.js';
import type { ActionRecord } from '../src/index.js';
import { openSite, type Site, textOf } from './dashboard-site.js';
import { seedBlockedKey } from './story-keys.js';
import { seedSteps } from './story-steps.js';
import type { Story } from './story.js';

/** The `confirmed` form field of a confirmation page that showed two jobs. */
const confirmed = JSON.stringify({
  count: { count: 2, exact: true },
  asOf: '2100-01-01T00:00:00.000Z',
  oldestSearchedIds: {},
});

describe('an action', () => {
  let site: Site;
  let role: Role;
  let name: string;
  let records: ActionRecord[];
  let operationId: string;
  let steppedId: string;
  beforeEach(async () => {
    role = 'admin';
    name = 'ada';
    records = [];
    site = await openSite({
      authorize: () => ({ name, role }),
      onAction: (record) => records.push(record),
      control: ({ storage }) => storage,
    });
  });
  beforeEach(async () => {
    const order = { action: 'retry', filter: { state: ['failed'] } } as const;
    operationId = (await site.story.storage.bulk.start(order)).id;
    await site.story.storage.queues.resume('unused'); // creates the queue
    steppedId = (await seedSteps(site.story.storage)).failedId;
    await site.story.storage.savedSearches.save({ name: 'Known', query: 'state=done', savedBy: 'ada' });
    await seedBlockedKey(site.story.storage);
    site.story.storage.setAside.add({ role: 'recurring', key: 'nightly' }, new Error('poisoned'));
  });
  afterEach(() => site.close());

  const tokenOf = ({ text }: HttpResponse): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const token = async (): Promise<string> => {
    const before = role;
    role = 'admin';
    const page = await site.http.get(`/job-dashboard/jobs/${site.story.failedId}`);
    role = before;
    return tokenOf(page);
  };
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    site.http.post(`/job-dashboard${path}`, new URLSearchParams(form).toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const act = async (path: string, form: Record<string, string> = {}): Promise<HttpResponse> =>
    post(path, { token: await token(), version: await versionIn(path), ...fields, ...form });
  /** Returns the version of the job that a path names, as its form contains it. */
  const versionIn = async (path: string): Promise<string> => {
    const [, id = ''] = /^\/jobs\/([^/]+)\/edit/.exec(path) ?? [];
    const job = await site.story.storage.jobs.find(id);
    return job === null ? '' : versionOf(job);
  };
  const fields = {
    at: '2026-03-03T08:00',
    which: 'state=failed',
    confirmed,
    name: 'Known',
    search: 'state=failed',
    toName: 'renamed',
    signal: '"packed"',
    step: '"charge"',
    type: 'any',
    key: '"tenant-7"',
    limit: '3',
  };
  /** Returns the location of a redirect, without the flash message. */
  const placeIn = ({ location = '' }: HttpResponse['headers']): string => location.replace(/\?done=.*/, '');
  const stateOf = async (id: string) => (await site.story.storage.jobs.find(id))?.state;
  const targetOf = (path: string, story: Story): string => {
    if (path === '/queues/:target/delete') return 'unused';
    if (path === '/queues/:target/limit-key') return 'keyed';
    if (path.startsWith('/queues')) return 'mail';
    if (path.startsWith('/recurring')) return story.recurringId;
    if (path.startsWith('/batches')) return story.batchId;
    if (path.startsWith('/servers')) return story.serverId;
    if (path.startsWith('/bulk/')) return operationId;
    if (path.startsWith('/installations')) return 'longshore';
    if (path.startsWith('/set-aside/')) return '1';
    if (path.startsWith('/incidents/')) return story.incidentId;
    if (path.endsWith('/rerun-from')) return steppedId;
    return /(run|cancel|reschedule|rename|edit|signal)$/.test(path) ? story.scheduledId : story.failedId;
  };

  it('cancels a job and goes back to its page', async () => {
    const { scheduledId } = site.story;
    const { status, headers } = await act(`/jobs/${scheduledId}/cancel`);
    expect([status, placeIn(headers)]).to.deep.equal([303, `../../jobs/${scheduledId}`]);
    expect(await stateOf(scheduledId)).to.equal('cancelled');
  });

  it('retries a failed job', async () => {
    expect((await act(`/jobs/${site.story.failedId}/retry`)).status).to.equal(303);
    expect(await stateOf(site.story.failedId)).to.equal('enqueued');
  });

  it('runs a scheduled job now', async () => {
    expect((await act(`/jobs/${site.story.scheduledId}/run`)).status).to.equal(303);
    expect(await stateOf(site.story.scheduledId)).to.equal('enqueued');
  });

  it('deletes a finished job after two minutes, in which the deletion can be undone', async () => {
    const { doneId, storage } = site.story;
    const { status, headers } = await act(`/jobs/${doneId}/delete`);
    expect(status).to.equal(303);
    const id = /^..\/..\/bulk\/(.+)$/.exec(placeIn(headers))?.[1] ?? '';
    await storage.bulk.advance();
    const operation = await storage.bulk.find(id);
    expect(operation).to.include({ state: 'pending', changed: 0 });
    expect(operation === null ? 0 : operation.startsAt.getTime() - operation.createdAt.getTime()).to.equal(
      120_000,
    );
    await act(`/bulk/${id}/stop`);
    expect(textOf((await site.http.get(`/job-dashboard/bulk/${id}`)).text)).to.include('No job was deleted');
    expect(await stateOf(doneId)).to.equal('done');
  });

  it('deletes no job that has not finished', async () => {
    expect((await act(`/jobs/${site.story.scheduledId}/delete`)).status).to.equal(409);
  });

  it('pauses a queue and resumes it, which its page shows at once', async () => {
    await act('/queues/mail/pause');
    expect((await site.http.get('/job-dashboard/queues/mail')).text).to.include('until it is resumed');
    await act('/queues/mail/resume');
    expect((await site.http.get('/job-dashboard/queues/mail')).text).not.to.include('until it is resumed');
  });

  it('sets the limit of a key for its blocked jobs, says so, and shows it in the audit', async () => {
    const { headers } = await act('/queues/keyed/limit-key', { reason: 'large order' });
    expect(placeIn(headers)).to.equal('../../queues/keyed');
    const jobs = await site.story.storage.jobs.list({ filter: { queue: ['keyed'] }, limit: 9 });
    expect(jobs.map(({ concurrencyLimit }) => concurrencyLimit)).to.have.members([1, 3]);
    const text = textOf((await site.http.get('/job-dashboard/audit?action=queues/limit-key')).text);
    expect(text).to.match(/Limited a key of queue\s+keyed/);
    expect(text).to.contain('concurrencyKey: "tenant-7", limit: 1 → 3').and.to.contain('large order');
  });

  it('refuses the limit of a key that blocks no jobs, and one that is no number', async () => {
    expect((await act('/queues/keyed/limit-key', { key: '"other"' })).status).to.equal(409);
    for (const limit of ['', '0', 'many'])
      expect((await act('/queues/keyed/limit-key', { limit })).status).to.equal(422);
    expect(records).to.deep.equal([]);
  });

  it('is reported to the application, with its user', async () => {
    await act(`/jobs/${site.story.failedId}/retry`);
    expect(records).to.deep.equal([
      {
        viewer: { name: 'ada', role: 'admin' },
        address: '127.0.0.1',
        action: 'jobs/retry',
        target: site.story.failedId,
        count: 1,
        exact: true,
        filter: null,
        values: null,
        before: null,
        reason: null,
      },
    ]);
  });

  it('renames a job that has not started, and refuses a name that is none', async () => {
    const { scheduledId, storage } = site.story;
    expect((await act(`/jobs/${scheduledId}/rename`, { toName: 'two words' })).status).to.equal(422);
    await act(`/jobs/${scheduledId}/rename`, { toName: 'other' });
    expect((await storage.jobs.find(scheduledId))?.name).to.equal('other');
  });

  it('reschedules a scheduled job', async () => {
    await act(`/jobs/${site.story.scheduledId}/reschedule`, { at: '2026-03-03T08:00' });
    const job = await site.story.storage.jobs.find(site.story.scheduledId);
    expect(job?.runAt).to.deep.equal(new Date('2026-03-03T08:00:00Z'));
  });

  it('does not reschedule to a relative time', async () => {
    expect((await act(`/jobs/${site.story.scheduledId}/reschedule`, { at: '2h' })).status).to.equal(422);
  });

  it('does not reschedule into the past, and shows the current time', async () => {
    const { storage, scheduledId } = site.story;
    const before = await storage.jobs.find(scheduledId);
    const answer = await act(`/jobs/${scheduledId}/reschedule`, { at: '2026-03-01T08:00' });
    expect(answer.status).to.equal(422);
    expect(answer.text).to.include(new Date(storage.manualClock.now()).toISOString().slice(0, 16));
    expect(await storage.jobs.find(scheduledId)).to.deep.equal(before);
  });

  it('edits the tags, the attempts and the priority of a job that has not started', async () => {
    const { storage, scheduledId } = site.story;
    await storage.control.edit([scheduledId], async (current) => {
      const contents = [...current].map(([id, { queue, priority, args, runAt }]) => {
        return [id, { queue, priority, args: JSON.stringify(args), runAt, tags: ['a, b', 'c\nd'] }] as const;
      });
      return new Map(contents);
    });
    const before = await storage.jobs.find(scheduledId);
    const { text } = await site.http.get(`/job-dashboard/jobs/${scheduledId}/change`);
    expect(textOf(text)).to.include('New tags, separated by commas');
    const form = { tags: 'vip, eu ', maxAttempts: '7', priority: '-3', keep: JSON.stringify('c\nd') };
    expect((await act(`/jobs/${scheduledId}/edit`, form)).status).to.equal(303);
    expect(await storage.jobs.find(scheduledId)).to.deep.equal({
      ...before,
      tags: ['c\nd', 'vip', 'eu'],
      maxAttempts: 7,
      priority: -3,
    });
    const [entry] = await storage.audit.list({ target: scheduledId, limit: 1 });
    expect(entry?.filter).to.deep.include({
      values: { tags: ['c\nd', 'vip', 'eu'], maxAttempts: 7, priority: -3 },
      before: { tags: ['a, b', 'c\nd'], maxAttempts: before?.maxAttempts, priority: before?.priority },
    });
  });

  it('edits no job that has ended, and takes no values that make no sense', async () => {
    const { failedId, scheduledId, storage } = site.story;
    const before = await storage.jobs.find(scheduledId);
    expect((await act(`/jobs/${failedId}/edit`, { tags: 'vip' })).status).to.equal(409);
    for (const form of [{ maxAttempts: '0' }, { maxAttempts: '1e3' }, { priority: '999' }, { keep: '7' }])
      expect((await act(`/jobs/${scheduledId}/edit`, form)).status).to.equal(422);
    expect(await storage.jobs.find(scheduledId)).to.deep.equal(before);
  });

  it('creates a queue with its limits, but none that exists or has an impossible name', async () => {
    expect((await site.http.get('/job-dashboard/queues')).text).to.include('New queue…');
    const form = { name: 'campaign', concurrency: '3' };
    const { status, headers } = await act('/create-queue', form);
    expect([status, placeIn(headers)]).to.deep.equal([303, './queues/campaign']);
    expect(await site.story.storage.queues.find('campaign')).to.include({ concurrencyLimit: 3 });
    expect((await act('/create-queue', form)).status).to.equal(409);
    expect((await act('/create-queue', { ...form, name: 'no name' })).status).to.equal(422);
  });

  it('sets the limits of a queue, and removes them again', async () => {
    const limits = async () => {
      const queue = (await site.story.storage.queues.list()).find(({ name }) => name === 'mail');
      return [queue?.concurrencyLimit, queue?.rateLimit];
    };
    await act('/queues/mail/limit', { concurrency: '1,000', jobs: '10', seconds: '0.5', burst: '' });
    expect(await limits()).to.deep.equal([1_000, { jobs: 10, periodMs: 500, burst: 10 }]);
    expect((await site.http.get('/job-dashboard/queues/mail')).text).to.include('At most 1,000 jobs at once');
    await act('/queues/mail/limit', { concurrency: '', jobs: '', seconds: '', burst: '' });
    expect(await limits()).to.deep.equal([null, null]);
  });

  it('shows the settings of a queue in code next to what an operator has changed', async () => {
    const { queues } = site.story.storage;
    await queues.synchronize('shop', { campaign: { concurrencyLimit: 7, rateLimit: null } });
    const page = async () => textOf((await site.http.get('/job-dashboard/queues/campaign')).text);
    expect(await page()).to.match(/In the code of shop: No limit of starts\.\s+At most 7 jobs at once/);
    expect(await page()).not.to.contain('Changed since by an operator');
    await queues.limit('campaign', { concurrencyLimit: 2 });
    expect(await page()).to.contain('Changed since by an operator, until the code changes.');
  });

  it('deletes an unused queue and goes to the list of queues', async () => {
    expect((await site.http.get('/job-dashboard/queues/unused')).text).to.include('Delete the queue');
    const { headers } = await act('/queues/unused/delete');
    expect(placeIn(headers)).to.equal('../../queues');
    expect(await site.story.storage.queues.find('unused')).to.equal(null);
    expect((await act('/queues/unused/delete')).status).to.equal(404);
  });

  it('does not delete or offer to delete a queue in use', async () => {
    expect((await site.http.get('/job-dashboard/queues/mail')).text).not.to.include('Delete the queue');
    const { status, text } = await act('/queues/mail/delete');
    expect(status).to.equal(409);
    expect(text).to.include('This queue cannot be deleted');
  });

  for (const form of [
    { concurrency: '0' },
    { concurrency: 'x' },
    { seconds: '5' },
    { jobs: '1', seconds: '-1' },
    { jobs: '1', seconds: '' },
  ]) {
    it(`rejects the limits ${JSON.stringify(form)} with 422`, async () => {
      expect((await act('/queues/mail/limit', form)).status).to.equal(422);
      expect(records).to.deep.equal([]);
    });
  }

  it('enqueues a job of a recurring one and goes to its page', async () => {
    const { headers } = await act('/recurring/count-stock/trigger');
    const id = /jobs\/([\da-f-]{36})$/.exec(placeIn(headers))?.[1] ?? '';
    expect((await site.story.storage.jobs.find(id))?.recurringJobId).to.equal('count-stock');
  });

  it('pauses a recurring job and resumes it', async () => {
    await act('/recurring/count-stock/pause');
    expect((await site.http.get('/job-dashboard/recurring/count-stock')).text).to.include('Paused');
    await act('/recurring/count-stock/resume');
    expect((await site.http.get('/job-dashboard/recurring/count-stock')).text).to.include(
      'The next job is due',
    );
  });

  it('asks a server to stop taking jobs', async () => {
    await act(`/servers/${site.story.serverId}/quiet`);
    const { text } = await site.http.get(`/job-dashboard/servers/${site.story.serverId}`);
    expect(textOf(text)).to.include('It has been asked to take no more jobs');
  });

  it('cancels a batch', async () => {
    await act(`/batches/${site.story.batchId}/cancel`);
    expect(await site.story.storage.batches.find(site.story.batchId)).to.include({ cancelled: 4, failed: 1 });
  });

  it('is recorded permanently, and shown on the audit page', async () => {
    await act(`/jobs/${site.story.failedId}/retry`);
    const [entry] = await site.story.storage.audit.list({ limit: 1 });
    expect(entry).to.include({ who: 'ada', action: 'jobs/retry', target: site.story.failedId, count: 1 });
    expect(textOf((await site.http.get('/job-dashboard/audit')).text)).to.include(
      `ada Retried job ${site.story.failedId.slice(-8)}`,
    );
  });

  it('that the state does not allow changes nothing and returns 409', async () => {
    expect((await act(`/jobs/${site.story.doneId}/cancel`)).status).to.equal(409);
    expect([await stateOf(site.story.doneId), records]).to.deep.equal(['done', []]);
  });

  it('on a job that does not exist is 404', async () => {
    expect((await act(`/jobs/${newId()}/cancel`)).status).to.equal(404);
  });

  for (const { path, operation } of actions) {
    const { role: least } = operation;
    for (const viewerRole of roles) {
      it(`${path} by a ${viewerRole} is ${hasRole({ name: '', role: viewerRole }, least) ? 'done' : 'refused'}`, async () => {
        role = viewerRole;
        const expected = hasRole({ name: '', role: viewerRole }, least) ? 303 : 403;
        expect(
          (
            await act(
              path.replace(':target', targetOf(path, site.story)),
              path.endsWith('/mute') ? { for: '60' } : {},
            )
          ).status,
        ).to.equal(expected);
        expect(records).to.have.lengthOf(expected === 303 ? 1 : 0);
      });
    }

    it(`${path} does nothing without its token, from another site, or by GET`, async () => {
      const target = path.replace(':target', targetOf(path, site.story));
      const good = await token();
      const answers = [
        await post(target, {}),
        await post(target, { token: `${good}x` }),
        await post(target, { token: good }, { 'sec-fetch-site': 'cross-site' }),
        await post(target, { token: good }, { origin: 'https://example.com' }),
        await site.http.get(`/job-dashboard${target}`),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([403, 403, 403, 403, 405]);
      expect(records).to.deep.equal([]);
    });
  }

  it('is offered only to viewers with the role', async () => {
    const offered = async (viewerRole: Role): Promise<boolean[]> => {
      role = viewerRole;
      const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.failedId}`);
      return [text.includes('/retry"'), text.includes('/delete"')];
    };
    expect(await offered('viewer')).to.deep.equal([false, false]);
    expect(await offered('operator')).to.deep.equal([true, false]);
    expect(await offered('admin')).to.deep.equal([true, true]);
  });
});

describe('a dashboard without control', () => {
  it('offers no actions and rejects them', async () => {
    const site = await openSite();
    try {
      const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.failedId}`);
      expect(text).not.to.include('/retry"');
      const { status } = await site.http.post(`/job-dashboard/jobs/${site.story.failedId}/retry`);
      expect(status).to.equal(404);
    } finally {
      await site.close();
    }
  });
});
