import { defineRecurringJob } from '@longshore/jobs';
import { expect } from 'chai';
import { add, onEachStorage } from './support/jobs-api-under-test.js';

const hourly = { name: 'add', args: { a: 1, b: 2 }, cron: '0 * * * *' };

onEachStorage('Recurring jobs as resources', (api) => {
  const make = async (body: object = {}): Promise<string> =>
    (await api.post('/recurring-jobs', { id: api.newName(), ...hourly, ...body })).item.id;

  it('POST /recurring-jobs answers 201 with everything that was left to defaults', async () => {
    const id = api.newName();
    const made = await api.post('/recurring-jobs', { id, ...hourly });
    expect([made.status, made.headers.location]).to.deep.equal([
      201,
      `https://jobs.example/api/v1/recurring-jobs/${id}`,
    ]);
    expect(made.item).to.deep.include({
      id,
      ...hourly,
      queue: 'default',
      maxAttempts: 10,
      timeZone: 'UTC',
      misfire: 'once',
      overlap: 'allow',
      application: null,
      pausedAt: null,
    });
  });

  it('POST /recurring-jobs with an id that is taken is 409', async () => {
    const id = await make();
    expect((await api.post('/recurring-jobs', { id, ...hourly })).codes).to.deep.equal([40901]);
  });

  for (const [what, body] of [
    ['a cron expression that is none', { cron: '61 * * * *' }],
    ['an unknown time zone', { timeZone: 'Mars/Olympus' }],
    ['both cron and every', { every: '1 h' }],
    ['neither cron nor every', { cron: null }],
    ['an interval whose units are in the wrong order', { cron: null, every: '30 min 1 h' }],
    ['an interval that is too long', { cron: null, every: '53 w' }],
    ['an interval that is due too often', { cron: null, every: '59 s' }],
    ['an interval in a time zone', { cron: null, every: '1 h', timeZone: 'Europe/Berlin' }],
    ['an anchor between two seconds', { cron: null, every: '1 h', anchor: '2026-01-01T00:00:00.5Z' }],
    ['an anchor without an interval', { anchor: '2026-01-01T00:00:00Z' }],
    ['a unique key in finished states for ever', { unique: { key: 'a', states: ['done'] } }],
    ['the name of no job', { name: 'subtract' }],
    ['arguments that do not fit', { args: { a: 'one', b: 2 } }],
  ] as const) {
    it(`POST /recurring-jobs with ${what} is 422`, async () => {
      const answer = await api.post('/recurring-jobs', { id: api.newName(), ...hourly, ...body });
      expect(answer.codes).to.deep.equal([42202]);
    });
  }

  it('POST /recurring-jobs stores everything that it is given, and shows it', async () => {
    const given = {
      name: 'add',
      args: { a: 1, b: 2 },
      every: '1 h 30 min',
      anchor: '2026-01-01T06:00:00.000Z',
      timeoutMs: 5_000,
      maxBacklog: 7,
      tags: ['night'],
      concurrency: { key: 'k', limit: 2 },
      unique: { key: 'u', periodMs: null, states: ['enqueued'], onConflict: 'replace' },
    };
    const id = api.newName();
    const { status, item } = await api.post('/recurring-jobs', { id, ...given });
    expect(status).to.equal(201);
    expect(item).to.deep.include({ ...given, cron: null, timeZone: 'UTC' });
    const read = (await api.get(`/recurring-jobs/${id}`)).item;
    expect(read).to.deep.equal(item);
    const { item: replaced } = await api.put(`/recurring-jobs/${id}`, { ...read, priority: 7 });
    expect(replaced).to.deep.equal({ ...read, priority: 7, updatedAt: replaced['updatedAt'] });
    const { items } = await api.get(
      `/recurring-jobs/${id}/occurrences?limit=2&dueAfter=2026-05-01T00:00:00Z`,
    );
    expect(items.map(({ dueAt }) => dueAt)).to.deep.equal([
      '2026-05-01T00:00:00.000Z',
      '2026-05-01T01:30:00.000Z',
    ]);
  });

  it('POST /recurring-jobs counts intervals from 1970 by default', async () => {
    const { item } = await api.post('/recurring-jobs', {
      id: api.newName(),
      ...hourly,
      cron: null,
      every: '90 s',
    });
    expect(item).to.include({ cron: null, every: '90 s', anchor: '1970-01-01T00:00:00.000Z' });
  });

  it('PATCH /recurring-jobs/{id} with cron or every replaces the other, and what belongs to it', async () => {
    const id = await make({ timeZone: 'Europe/Berlin' });
    const patch = async (body: object): Promise<object> => {
      const { item } = await api.patch(`/recurring-jobs/${id}`, body);
      return { cron: item['cron'], timeZone: item['timeZone'], every: item['every'], anchor: item['anchor'] };
    };
    const anchor = '2026-01-01T00:00:00.000Z';
    const interval = { cron: null, timeZone: 'UTC', every: '2 h', anchor };
    expect(await patch({ every: '2 h', anchor })).to.deep.equal(interval);
    expect(await patch({ every: '3 h' })).to.deep.equal({ ...interval, every: '3 h' });
    const daily = { cron: '@daily', timeZone: 'UTC', every: null, anchor: null };
    expect(await patch({ cron: '@daily' })).to.deep.equal(daily);
    expect((await api.patch(`/recurring-jobs/${id}`, { cron: null })).codes).to.deep.equal([42202]);
  });

  it('PATCH /recurring-jobs/{id} removes what is null', async () => {
    const unique = { key: 'u' };
    const id = await make({ timeoutMs: 5, tags: ['a'], concurrency: { key: 'k', limit: 1 }, unique });
    const nothing = { timeoutMs: null, concurrency: null, unique: null, maxBacklog: null };
    const { item } = await api.patch(`/recurring-jobs/${id}`, { ...nothing, tags: [] });
    expect(item).to.deep.include({ ...nothing, tags: [] });
  });

  it('PUT /recurring-jobs/{id}/trigger is 409 while another job holds its unique key', async () => {
    const id = await make({ unique: { key: api.newName() }, queue: api.newName() });
    expect((await api.put(`/recurring-jobs/${id}/trigger`)).status).to.equal(200);
    const refused = await api.put(`/recurring-jobs/${id}/trigger`);
    expect(refused.codes).to.deep.equal([40902]);
    expect(refused.text).to.contain('holds its unique key');
  });

  it('GET /recurring-jobs filters by name and queue, and sorts', async () => {
    const queue = api.newName();
    const ids = [await make({ queue }), await make({ queue })];
    await make();
    const listed = await api.get(`/recurring-jobs?queue=${queue}&name=add&sort=-id`);
    expect(listed.items.map(({ id }) => id)).to.deep.equal(ids.toReversed());
    expect(listed.headers['x-total-count']).to.equal('2');
  });

  it('GET /recurring-jobs reads no more than its page and one further, in both orders and from any place', async () => {
    const queue = api.newName();
    const ids = [];
    for (let n = 0; n < 6; n++) ids.push(await make({ queue }));
    const { recurring } = api.storage;
    const read: number[] = [];
    recurring.list = async (query) => {
      const rows = await (Object.getPrototypeOf(recurring) as typeof recurring).list.call(recurring, query);
      read.push(rows.length);
      return rows;
    };
    try {
      const pages = async (sort: string): Promise<unknown[]> => {
        const pages: string[][] = [];
        let path: string | undefined = `/recurring-jobs?queue=${queue}&limit=2&sort=${sort}`;
        while (path !== undefined) {
          const page = await api.get(path);
          pages.push(page.items.map(({ id }) => id));
          path = /<[^>]*api\/v1([^>]*)>; rel="?next"?/.exec(String(page.headers['link']))?.[1];
        }
        return pages;
      };
      expect(await pages('id')).to.deep.equal([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
      const newest = ids.toReversed();
      expect(await pages('-id')).to.deep.equal([newest.slice(0, 2), newest.slice(2, 4), newest.slice(4)]);
      const second = await api.get(`/recurring-jobs?queue=${queue}&limit=2&offset=2`);
      expect(second.items.map(({ id }) => id)).to.deep.equal(ids.slice(2, 4));
    } finally {
      Reflect.deleteProperty(recurring, 'list');
    }
    expect(Math.max(...read)).to.equal(3);
  });

  it('PUT /recurring-jobs replaces those that are listed, all or none', async () => {
    const ids = [await make(), await make()];
    const full = { ...hourly, queue: 'default', priority: 5, maxAttempts: 10 };
    const refused = await api.put('/recurring-jobs', [
      { ...full, id: ids[0] },
      { ...full, id: ids[1], cron: '61 * * * *' },
      { ...full, id: 'none' },
    ]);
    expect(refused.codes).to.deep.equal([40402]);
    const bad = await api.put('/recurring-jobs', [
      { ...full, id: ids[0] },
      { ...full, id: ids[1], cron: '61 * * * *' },
    ]);
    expect(bad.codes).to.deep.equal([42202]);
    expect(bad.text).to.contain('[1]: ');
    expect((await api.get(`/recurring-jobs/${ids[0]}`)).item).to.include({ priority: 0 });
    const changed = await api.put(
      '/recurring-jobs',
      ids.toReversed().map((id) => ({ ...full, id })),
    );
    expect(changed.items.map(({ id, ...item }) => [id, item['priority']])).to.deep.equal([
      [ids[1], 5],
      [ids[0], 5],
    ]);
  });

  it('DELETE /recurring-jobs removes those that match', async () => {
    const queue = api.newName();
    const [gone, stays] = [await make({ queue }), await make()];
    expect((await api.delete(`/recurring-jobs?queue=${queue}`)).status).to.equal(204);
    expect((await api.get(`/recurring-jobs/${gone}`)).status).to.equal(404);
    expect((await api.get(`/recurring-jobs/${stays}`)).status).to.equal(200);
  });

  it('GET /recurring-jobs/{id} of an unknown one is 404', async () => {
    expect((await api.get('/recurring-jobs/none')).codes).to.deep.equal([40402]);
  });

  it('PUT /recurring-jobs/{id} replaces it and refuses a stale If-Match', async () => {
    const id = await make({ queue: 'mail' });
    const { item, headers } = await api.get(`/recurring-jobs/${id}`);
    const body = { ...item, cron: '30 * * * *', priority: 4 };
    const replaced = await api.call('PUT', `/recurring-jobs/${id}`, body, {
      'if-match': String(headers.etag),
    });
    expect(replaced.item).to.include({ cron: '30 * * * *', priority: 4, queue: 'mail' });
    const again = { ...body, updatedAt: undefined, nextDueAt: undefined };
    const stale = await api.call('PUT', `/recurring-jobs/${id}`, again, { 'if-match': String(headers.etag) });
    expect(stale.codes).to.deep.equal([41201]);
  });

  it('PUT /recurring-jobs/{id} of an unknown one is 404, without a required field 422', async () => {
    const { item } = await api.get(`/recurring-jobs/${await make()}`);
    const { name, args, cron, queue, priority, maxAttempts } = item;
    const body = { name, args, cron, queue, priority, maxAttempts };
    expect((await api.put('/recurring-jobs/none', body)).codes).to.deep.equal([40402]);
    const { name: _, ...rest } = body;
    expect((await api.put(`/recurring-jobs/${item.id}`, rest)).codes).to.deep.equal([42201]);
  });

  it('PATCH /recurring-jobs/{id} changes what is given and leaves the rest', async () => {
    const id = await make({ queue: 'mail' });
    const patched = await api.patch(`/recurring-jobs/${id}`, { cron: '15 * * * *', args: { a: 7 } });
    expect(patched.item).to.deep.include({ cron: '15 * * * *', queue: 'mail', args: { a: 7, b: 2 } });
  });

  it('PATCH and PUT /recurring-jobs/{id} keep what they leave as it is: digits, tags and concurrency', async () => {
    const id = api.newName();
    const job = defineRecurringJob({
      id,
      definition: add,
      args: { a: 1, b: 2 },
      cron: '0 * * * *',
      tags: ['nightly'],
      concurrency: { key: 'k', limit: 2 },
    });
    const args = '{"a":12345678901234567890,"b":2}';
    await api.storage.recurring.add({ ...job, args });
    const kept = async (): Promise<void> => {
      expect((await api.storage.recurring.findArgs(id))?.replaceAll(' ', '')).to.equal(args);
      const { tags, concurrency } = (await api.storage.recurring.find(id)) ?? {};
      expect({ tags, concurrency }).to.deep.equal({ tags: job.tags, concurrency: job.concurrency });
    };
    expect((await api.patch(`/recurring-jobs/${id}`, { priority: 5 })).status).to.equal(200);
    await kept();
    const { item } = await api.get(`/recurring-jobs/${id}`);
    expect((await api.put(`/recurring-jobs/${id}`, { ...item, priority: 6 })).status).to.equal(200);
    await kept();
    const { item: shown } = await api.get(`/recurring-jobs/${id}`);
    expect((await api.put('/recurring-jobs', [{ ...shown, priority: 7 }])).status).to.equal(200);
    await kept();
  });

  it('PATCH /recurring-jobs/{id} to a schedule that never comes is 422', async () => {
    const id = await make();
    expect((await api.patch(`/recurring-jobs/${id}`, { cron: '0 0 30 2 *' })).codes).to.deep.equal([42202]);
  });

  it('PATCH /recurring-jobs/{id} of one that code defines is 409', async () => {
    const job = defineRecurringJob({
      id: api.newName(),
      definition: add,
      args: { a: 1, b: 2 },
      cron: '0 * * * *',
    });
    await api.storage.recurring.synchronize(`app-${job.id}`, [job]);
    expect((await api.patch(`/recurring-jobs/${job.id}`, { priority: 1 })).codes).to.deep.equal([40902]);
  });

  it('DELETE of recurring jobs keeps a reason in the audit, one entry for each', async () => {
    const queue = api.newName();
    const ids = [await make({ queue }), await make({ queue }), await make()];
    expect((await api.delete(`/recurring-jobs?queue=${queue}&reason=moved`)).status).to.equal(204);
    expect((await api.delete(`/recurring-jobs/${ids[2]}?reason=closed`)).status).to.equal(204);
    const entries = await Promise.all(
      ids.map((target) => api.storage.audit.list({ limit: 2, target, action: 'recurring/delete' })),
    );
    expect(entries.flat().map(({ target, reason, count }) => [target, reason, count])).to.deep.equal([
      [ids[0], 'moved', 1],
      [ids[1], 'moved', 1],
      [ids[2], 'closed', 1],
    ]);
  });

  it('DELETE /recurring-jobs/{id} is 204, then 404', async () => {
    const id = await make();
    expect((await api.delete(`/recurring-jobs/${id}`)).status).to.equal(204);
    expect((await api.delete(`/recurring-jobs/${id}`)).codes).to.deep.equal([40402]);
  });

  it('PUT /recurring-jobs/{id}/trigger enqueues a job, and with respond-async points to it', async () => {
    const id = await make();
    expect((await api.put(`/recurring-jobs/${id}/trigger`)).status).to.equal(200);
    const answer = await api.call('PUT', `/recurring-jobs/${id}/trigger`, undefined, {
      prefer: 'respond-async',
    });
    expect(answer.status).to.equal(202);
    const path = new URL(String(answer.headers.location)).pathname.replace('/api/v1', '');
    expect((await api.get(path)).item).to.deep.include({ name: 'add', recurringJobId: id });
    const jobs = await api.get(`/recurring-jobs/${id}/jobs`);
    expect([jobs.items.length, jobs.headers['x-total-count']]).to.deep.equal([2, '2']);
  });

  it('PUT /recurring-jobs/{id}/pause and resume, each twice without a second effect', async () => {
    const id = await make();
    const { item: paused } = await api.put(`/recurring-jobs/${id}/pause`);
    expect(paused).to.include({ nextDueAt: null });
    expect((await api.put(`/recurring-jobs/${id}/pause`)).item['pausedAt']).to.equal(paused['pausedAt']);
    const { item: resumed } = await api.put(`/recurring-jobs/${id}/resume`);
    expect(resumed['pausedAt']).to.equal(null);
    expect((await api.put(`/recurring-jobs/${id}/resume`)).item).to.deep.equal(resumed);
  });

  for (const verb of ['trigger', 'pause', 'resume']) {
    it(`PUT /recurring-jobs/{id}/${verb} of an unknown one is 404`, async () => {
      expect((await api.put(`/recurring-jobs/none/${verb}`)).codes).to.deep.equal([40402]);
    });
  }

  it('GET /recurring-jobs/{id}/jobs below one that is unknown is 404', async () => {
    expect((await api.get('/recurring-jobs/none/jobs')).codes).to.deep.equal([40402]);
  });

  it('GET /recurring-jobs/{id}/jobs matches no jobs of another one', async () => {
    const [one, other] = [await make(), await make()];
    await api.put(`/recurring-jobs/${other}/trigger`);
    expect((await api.get(`/recurring-jobs/${one}/jobs?recurringJobId=${other}`)).items).to.deep.equal([]);
  });

  it('GET /recurring-jobs/{id}/occurrences tells the next times from a time on', async () => {
    const id = await make({ timeZone: 'Europe/Berlin', cron: '30 2 * * *' });
    const path = `/recurring-jobs/${id}/occurrences?limit=2&dueAfter=2026-03-27T01:30:00Z`;
    expect((await api.get(path)).items.map((item) => item['dueAt'])).to.deep.equal([
      '2026-03-27T01:30:00.000Z',
      '2026-03-28T01:30:00.000Z',
    ]);
  });

  it('records who creates and changes one, with the values before and after, but no arguments', async () => {
    const id = await make({ args: { a: 98765, b: 2 }, queue: 'default' });
    await api.patch(`/recurring-jobs/${id}`, { cron: '5 * * * *', args: { a: 43210 } });
    await api.put('/recurring-jobs', [{ id, ...hourly, queue: 'default', priority: 3, maxAttempts: 10 }]);
    const { items, text } = await api.get('/audit-entries?limit=3');
    const [many, edited, created] = items;
    expect(created).to.deep.include({ action: 'recurring/create', target: id, outcome: 'done' });
    expect(created?.['values']).to.include({ name: 'add', cron: '0 * * * *', queue: 'default' });
    expect(edited).to.deep.include({
      action: 'recurring/edit',
      target: id,
      values: { cron: '5 * * * *' },
      before: { cron: '0 * * * *' },
    });
    expect(many).to.deep.include({ action: 'recurring/edit', count: 1 });
    expect(text).not.to.contain('98765').and.not.to.contain('43210');
  });
});
