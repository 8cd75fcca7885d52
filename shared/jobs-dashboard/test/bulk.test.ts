import { expect } from 'chai';
import { defaultRedaction, type JobFilter, newId } from '@longshore/jobs/storage';
import { openSite, type Site, textOf } from './dashboard-site.js';

const lists = [
  ['queue', 'queue'],
  ['name', 'name'],
  ['tag', 'tag'],
  ['recurring', 'recurringJobId'],
  ['batch', 'batchId'],
  ['parent', 'parentId'],
  ['enqueuer', 'enqueuedBy'],
  ['awaits', 'awaits'],
  ['correlate', 'correlate'],
  ['server', 'serverId'],
  ['error', 'error'],
  ['fingerprint', 'errorFingerprint'],
] as const;

/** Unescapes an attribute's value. */
function plain(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#34;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

describe('a bulk action', () => {
  let site: Site;
  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
  });
  afterEach(() => site.close());

  /** Makes every filter match one job. A confirmation page without matching jobs has no form. */
  const letSomeMatch = (): void => {
    site.story.storage.bulk.preview = async () => ({
      count: { count: 1, exact: true },
      asOf: new Date(site.story.storage.clock.now()),
      oldestSearchedIds: {},
    });
  };
  const get = async (path: string): Promise<string> => {
    const { status, text } = await site.http.get(`/job-dashboard/${path}`);
    expect(status, path).to.equal(200);
    return text;
  };
  const post = (path: string, form: string) =>
    site.http.post(path, form, { headers: { 'content-type': 'application/x-www-form-urlencoded' } });
  /** Submits the form in a confirmation page's HTML as browsers do. Returns the path of the redirect. */
  const send = async (text: string): Promise<string> => {
    const [, action = ''] = /<form class="acts" method="post" action="([^"]+)"/.exec(text) ?? [];
    const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const form = new URLSearchParams(
      fields.map(([, name = '', value = '']) => [name, plain(value).replaceAll('\n', '\r\n')]),
    );
    const { pathname } = new URL(action, 'http://dashboard.test/job-dashboard/bulk/confirm');
    const { status, headers } = await post(pathname, form.toString());
    expect(status).to.equal(303);
    return new URL(headers.location ?? '', 'http://dashboard.test/job-dashboard/').pathname.slice(
      '/job-dashboard/'.length,
    );
  };
  /**
   * Submits the form of the confirmation page at this path, and completes the bulk operation. Returns the path of the
   * redirect.
   */
  const confirm = async (path: string): Promise<string> => {
    const next = await send(await get(path));
    while (await site.story.storage.bulk.advance());
    return next;
  };

  it('is offered for selected rows only if one of them has a suitable state', async () => {
    const offered = async (path: string): Promise<(string | undefined)[]> =>
      [...(await get(path)).matchAll(/name="action" value="(\w+)"/g)].map(([, action]) => action);
    expect(await offered('jobs?state=failed')).to.deep.equal(['retry', 'delete']);
    expect(await offered('jobs?state=processing')).to.deep.equal(['cancel']);
    expect(await offered('jobs')).to.deep.equal(['retry', 'run', 'reschedule', 'rename', 'cancel', 'delete']);
  });

  it('is not offered where no row has a suitable state, and nothing can be selected there', async () => {
    const viewer = { name: 'olga', role: 'operator' } as const;
    const other = await openSite({ authorize: () => viewer, control: ({ storage }) => storage });
    try {
      const { text } = await other.http.get('/job-dashboard/jobs?state=done');
      expect(text).to.include('resize-image').and.not.include('checkbox');
    } finally {
      await other.close();
    }
  });
  const failed = async () => (await site.story.storage.jobs.stateCounts()).failed;

  it('is confirmed on a page that shows how many jobs, which, and the effect', async () => {
    const text = textOf(await get('bulk/confirm?action=retry&state=failed'));
    expect(text).to.include(' 2 jobs ').and.include('state:failed');
    expect(text).to.include('They go back to their queues').and.include('charge-card');
    expect(text).to.include('Retry 2 jobs Cancel');
  });

  it('has a link back that cannot be mistaken for the action “Cancel”', async () => {
    const text = textOf(await get('bulk/confirm?action=cancel&state=scheduled'));
    expect(text).to.match(/Cancel [\d,]+ jobs? Go back/);
  });

  it('is confirmed on a page that summarizes the jobs', async () => {
    const text = textOf(await get('bulk/confirm?action=delete&state=done&queue=images'));
    expect(text)
      .to.match(/Name (resize-image|generate-thumbnail) 30 , (resize-image|generate-thumbnail) 30 /)
      .and.include('Queue images 60');
    expect(text).not.to.include('newest 100');
    expect(textOf(await get('bulk/confirm?action=retry&state=failed'))).to.match(
      / Error (MailboxFullError 1 , CardDeclinedError 1|CardDeclinedError 1 , MailboxFullError 1) /,
    );
  });

  it('requires the word “delete” if the number of jobs is not exact', async () => {
    const { storage } = site.story;
    const asOf = new Date(storage.clock.now());
    storage.bulk.preview = async () => ({
      count: { count: 10_000, exact: false },
      asOf,
      oldestSearchedIds: {},
    });
    const html = await get('bulk/confirm?action=delete&state=failed');
    expect(textOf(html)).to.include('At least 10,000 jobs').and.include('Type delete to confirm');
    const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const form = new URLSearchParams(fields.map(([, name = '', value = '']) => [name, plain(value)]));
    expect((await post('/job-dashboard/bulk-delete', form.toString())).status).to.equal(422);
    form.set('typed', 'delete');
    expect((await post('/job-dashboard/bulk-delete', form.toString())).status).to.equal(303);
  });

  it('changes the jobs that the page showed, not jobs that matched later', async () => {
    const { storage } = site.story;
    const page = await get('bulk/confirm?action=cancel&state=scheduled');
    const scheduled = (await storage.jobs.stateCounts()).scheduled;
    storage.manualClock.advance(1_000);
    await storage.add({ name: 'later', inMs: 60_000 });
    const path = await send(page);
    while (await storage.bulk.advance());
    expect((await storage.jobs.stateCounts()).scheduled).to.equal(1);
    const [entry] = await storage.audit.list({ limit: 1 });
    expect(entry?.count).to.equal(scheduled);
    const shown = textOf(await get(path));
    expect(shown).to.include(`Confirmed ${scheduled} Changed ${scheduled}`).and.include('Jobs cancelled');
  });

  it('changes nothing when its page is viewed', async () => {
    await get('bulk/confirm?action=retry&state=failed');
    expect(await failed()).to.equal(2);
  });

  it('changes all matching jobs, and redirects to a page with the result', async () => {
    const path = await confirm('bulk/confirm?action=retry&state=failed');
    expect(await failed()).to.equal(0);
    expect(textOf(await get(path)))
      .to.include('2 jobs retried in ')
      .and.include('Started by local');
  });

  it('retries ten jobs first, shows what became of them, and leads to the others', async () => {
    const { storage, serverId } = site.story;
    const fail = async (): Promise<void> => {
      const error = { name: 'HttpError', message: 'upstream said 503', stack: null };
      await storage.end(await storage.start(serverId, 'steps'), { kind: 'failed', error });
    };
    for (let n = 0; n < 12; n++) {
      await storage.add({ name: 'charge-card', queue: 'steps', maxAttempts: 1 });
      await fail();
    }
    const html = await get('bulk/confirm?action=retry&state=failed&queue=steps');
    const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const form = new URLSearchParams(fields.map(([, name = '', value = '']) => [name, plain(value)]));
    form.set('step', 'first');
    const { headers } = await post('/job-dashboard/bulk-retry', form.toString());
    const step = String(headers['location'])
      .replace(/^.*job-dashboard\//, '')
      .replace(/^\.\//, '');
    while (await storage.bulk.advance());
    const [entry] = await storage.audit.list({ limit: 1 });
    expect([entry?.action, entry?.count]).to.deep.equal(['bulk/retry', 10]);
    for (let n = 0; n < 3; n++)
      await storage.end(await storage.start(serverId, 'steps'), { kind: 'done', result: 'null' });
    await fail();
    storage.manualClock.advance(2_000);
    const shown = await get(step);
    expect(textOf(shown)).to.include('3 jobs done, 1 failed again, 6 not finished yet');
    const [, next = ''] = /href="[./]*(bulk\/confirm[^"]*)"[^>]*>Retry the others/.exec(shown) ?? [];
    expect(textOf(await get(plain(next)))).to.match(/Retry these jobs\? .* 3 jobs /);
  });

  it('does not offer to retry ten jobs first if there are no more', async () => {
    expect(await get('bulk/confirm?action=retry&state=failed')).not.to.include('value="first"');
  });

  it('renames to the name that the operator enters on its page', async () => {
    const { storage, scheduledId } = site.story;
    const html = await get('bulk/confirm?action=rename&state=scheduled');
    const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const form = new URLSearchParams(fields.map(([, name = '', value = '']) => [name, plain(value)]));
    expect((await post('/job-dashboard/bulk-rename', form.toString())).status).to.equal(422);
    form.set('toName', 'other');
    expect((await post('/job-dashboard/bulk-rename', form.toString())).status).to.equal(303);
    while (await storage.bulk.advance());
    expect((await storage.jobs.find(scheduledId))?.name).to.equal('other');
    expect(textOf(await get('audit'))).to.include('Started renaming');
  });

  it('reschedules to the time that the operator enters on its page', async () => {
    const { storage, scheduledId } = site.story;
    const html = await get('bulk/confirm?action=reschedule&state=scheduled');
    expect(html).to.include('type="datetime-local" name="at" required');
    const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const form = new URLSearchParams(fields.map(([, name = '', value = '']) => [name, plain(value)]));
    expect((await post('/job-dashboard/bulk-reschedule', form.toString())).status).to.equal(422);
    form.set('at', '2026-03-03T08:00');
    expect((await post('/job-dashboard/bulk-reschedule', form.toString())).status).to.equal(303);
    while (await storage.bulk.advance());
    const due = (await storage.jobs.list({ filter: { state: ['scheduled'] }, limit: 100 })).map(({ runAt }) =>
      runAt?.toISOString(),
    );
    expect(new Set(due)).to.deep.equal(new Set(['2026-03-03T08:00:00.000Z']));
    expect((await storage.jobs.find(scheduledId))?.state).to.equal('scheduled');
    expect(textOf(await get('audit'))).to.include('Started rescheduling');
  });

  it('is not confirmed for jobs until 30 February, which is not 2 March', async () => {
    for (const name of ['since', 'until']) {
      const { status, text } = await site.http.get(
        `/job-dashboard/bulk/confirm?action=delete&state=done&${name}=2026-02-30`,
      );
      expect([status, text.includes('action="./bulk-delete"')]).to.deep.equal([400, false]);
    }
  });

  it('does not reschedule to 30 February, which is not 2 March', async () => {
    const { storage, scheduledId } = site.story;
    const before = await storage.jobs.find(scheduledId);
    const html = await get('bulk/confirm?action=reschedule&state=scheduled');
    const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const form = new URLSearchParams(fields.map(([, name = '', value = '']) => [name, plain(value)]));
    form.set('at', '2027-02-30T10:00');
    expect((await post('/job-dashboard/bulk-reschedule', form.toString())).status).to.equal(422);
    while (await storage.bulk.advance());
    expect((await storage.jobs.find(scheduledId))?.runAt).to.deep.equal(before?.runAt);
  });

  it('changes only the selected jobs', async () => {
    await confirm(`bulk/confirm?selected=1&action=retry&id=${site.story.failedId}`);
    expect(await failed()).to.equal(1);
    expect(await site.story.storage.jobs.find(site.story.failedId)).to.include({ state: 'enqueued' });
  });

  it('is audited with its filter and number of jobs', async () => {
    await confirm('bulk/confirm?action=retry&state=failed&queue=billing');
    const [entry] = await site.story.storage.audit.list({ limit: 1 });
    expect(entry).to.deep.include({ who: 'local', action: 'bulk/retry', count: 1 });
    expect(entry?.filter).to.deep.include({ state: 'failed', terms: [{ key: 'queue', value: 'billing' }] });
    expect(textOf(await get('audit'))).to.include('local Started retrying 1 job state:failed queue:billing');
  });

  it('resolves “2 hours ago” as of the confirmation page', async () => {
    expect(await get('bulk/confirm?action=retry&since=2h')).to.include(
      'name="which" value="since=2026-03-01T12%3A05%3A00.000Z"',
    );
  });

  const { source: redact } = defaultRedaction;
  const terms: [name: string, value: string, filter: JobFilter][] = [
    ...lists.map(([name, member]): [string, string, JobFilter] => [
      name,
      'a&b[c]=d',
      { [member]: ['a&b[c]=d'] },
    ]),
    ['since', '2026-02-01', { createdAfter: new Date('2026-02-01T00:00:00Z') }],
    ['until', '2026-02-01', { createdBefore: new Date('2026-02-01T00:00:00Z') }],
    ['words', 'two', { q: 'two', redact }],
    ['state', 'failed', { state: ['failed'] }],
    ['tag', 'two\nlines', { tag: ['two\nlines'] }],
    ['args.order.id', '7', { args: [{ path: ['order', 'id'], values: ['7', 7] }], redact }],
    ['args.a[b]', 'x', { args: [{ path: ['a[b]'], values: ['x'] }], redact }],
    ['args.__proto__.x', 'x', { args: [{ path: ['__proto__', 'x'], values: ['x'] }], redact }],
  ];
  for (const [name, value, filter] of terms) {
    it(`applies to the confirmed jobs: ${name}=${JSON.stringify(value)}`, async () => {
      letSomeMatch();
      await confirm(`bulk/confirm?action=retry&${new URLSearchParams([[name, value]]).toString()}`);
      const [operation] = await site.story.storage.bulk.list({ limit: 1 });
      expect(operation?.filter).to.deep.equal(filter);
    });
  }

  for (const count of [1, 20, 21, 50, 300]) {
    it(`applies to ${count} selected jobs if so many were selected`, async () => {
      letSomeMatch();
      const ids = Array.from({ length: count }, () => newId());
      const { text } = await site.http.get(
        `/job-dashboard/bulk/confirm?action=delete&${ids.map((id) => `id=${id}`).join('&')}`,
      );
      await send(text);
      const [operation] = await site.story.storage.bulk.list({ limit: 1 });
      expect(operation?.filter).to.deep.equal({ id: ids });
    });
  }

  it('takes the 1,000 ids that a selection may have', async () => {
    letSomeMatch();
    const ids = Array.from({ length: 1_000 }, () => newId());
    const page = await get('bulk/confirm?action=delete&state=done');
    const which = ids.map((id) => `id=${id}`).join('&');
    await send(page.replace('value="state=done"', `value="${which}"`));
    const [operation] = await site.story.storage.bulk.list({ limit: 1 });
    expect(operation?.filter).to.deep.equal({ id: ids });
  });

  for (const [of, form] of [
    ['nothing', ''],
    ['conditions that are not in their place', 'state=done'],
    ['no condition', 'which='],
    ['a condition that is none', 'which=states%3Ddone'],
  ]) {
    it(`is not started by a form with ${of}`, async () => {
      const [, token = ''] =
        /name="token" value="([^"]+)"/.exec(await get('bulk/confirm?action=delete&state=done')) ?? [];
      const before = (await site.story.storage.bulk.list({ limit: 100 })).length;
      const { status } = await post(
        '/job-dashboard/bulk-delete',
        `token=${encodeURIComponent(token)}&${form}`,
      );
      expect(status).to.equal(400);
      expect(await site.story.storage.bulk.list({ limit: 100 })).to.have.lengthOf(before);
    });
  }

  for (const [query, why] of [
    ['action=explode', 'There is no such action'],
    ['action=retry&selected=1', 'No jobs are selected'],
    ['action=retry&id=1', 'It is not clear which jobs to change'],
    ['action=retry&state=lost', 'There is no state “lost”'],
    ['action=retry&args.card.cardToken=guess', 'cannot be searched'],
    ['action=delete', 'matches every job'],
    ['action=delete&words=%20', 'matches every job'],
    ['action=delete&state=done&queu=mail', 'Some of the conditions are invalid'],
    ['action=delete&state=done&queue=', 'Some of the conditions are invalid'],
    ['action=delete&state=done&args..x=1', 'Some of the conditions are invalid'],
    ['action=delete&state=done&id=0198b3f0-0000-7000-8000-000000000000', 'Select jobs or give conditions'],
  ] as const) {
    it(`has no confirmation for ${query}`, async () => {
      const { status, text } = await site.http.get(`/job-dashboard/bulk/confirm?${query}`);
      expect([status, textOf(text).includes(why)]).to.deep.equal([400, true]);
    });
  }

  it('is offered for a group of errors, and changes only the jobs of that group', async () => {
    const [, path = ''] = /href="\.\/(bulk\/confirm[^"]*CardDeclined[^"]*)"/.exec(await get('errors')) ?? [];
    await confirm(plain(path));
    expect(await failed()).to.equal(1);
    expect(await site.story.storage.jobs.find(site.story.failedId)).to.include({ state: 'enqueued' });
  });

  it('is offered for a narrowed list, but not for every job there is', async () => {
    expect(await get('jobs?state=failed')).to.include('bulk/confirm?state=failed&amp;action=retry');
    expect(await get('jobs')).not.to.include('action=retry"');
  });

  it('is offered above the list with the number of jobs', async () => {
    const text = textOf(await get('jobs?queue=billing'));
    expect(text).to.match(/ 1 job matches, newest first .* Retry all 1… Delete all 1… .* State Job /);
    expect(textOf(await get('jobs?state=enqueued'))).to.match(/ (\d+) jobs match,.* Cancel all \1… /);
  });

  it('is not offered if no matching job has a suitable state', async () => {
    const text = textOf(await get('jobs?queue=billing'));
    expect(text).not.to.include('Cancel all').and.not.include('Run all');
  });
});
