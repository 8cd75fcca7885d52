import { defineJob } from '@longshore/jobs';
import type { HttpResponse } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

const order = defineJob({
  name: 'ship-order',
  args: {
    type: 'object',
    required: ['orderId', 'carrier'],
    additionalProperties: false,
    properties: {
      orderId: { type: 'integer', minimum: 1, description: 'As in the shop' },
      carrier: { enum: ['post', 'courier'] },
      gift: { type: 'boolean' },
      note: { type: 'string' },
      apiKey: { type: 'string' },
      address: { type: 'object' },
    },
  },
});

const args =
  '{"orderId":12345678901234567890,"carrier":"post","apiKey":"hunter2","address":{"city":"Bonn","token":"t"}}';

describe('The form that edits a job', () => {
  let site: Site;
  afterEach(() => site.close());

  const open = async (definitions = [order]): Promise<void> => {
    site = await openSite({
      definitions,
      authorize: () => ({ name: 'ada', role: 'operator' }),
      control: ({ storage }) => storage,
    });
  };

  /** Adds a job that was cancelled. Returns its id. */
  const cancelled = async (): Promise<string> => {
    const { storage } = site.story;
    const job = { ...storage.order({ name: 'ship-order' }), args };
    await storage.enqueuer.enqueue([job]);
    await storage.control.cancel(job.id);
    return job.id;
  };

  const pageOf = async (id: string): Promise<HttpResponse> =>
    site.http.get(`/job-dashboard/jobs/${id}/change`);

  const post = (path: string, fields: URLSearchParams): Promise<HttpResponse> =>
    site.http.post(`/job-dashboard/${path}`, fields.toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  /** Returns what a browser would submit without changing anything, apart from `changes`. */
  const submitted = ({ text }: HttpResponse, changes: Record<string, string> = {}): URLSearchParams => {
    const form = new URLSearchParams();
    const [, html = ''] = text.split('<form class="panel form"');
    const decode = (value: string): string =>
      value
        .replaceAll('&#34;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&lt;', '<')
        .replaceAll('&amp;', '&');
    for (const [tag] of html.matchAll(/<input[^>]*>/g))
      if (!tag.includes('checkbox') || tag.includes('checked'))
        form.append(/ name="([^"]*)"/.exec(tag)?.[1] ?? '', decode(/ value="([^"]*)"/.exec(tag)?.[1] ?? ''));
    for (const [, name = '', value = ''] of html.matchAll(
      /<textarea[^>]* name="([^"]*)"[^>]*>\n([^]*?)<\/textarea>/g,
    ))
      form.append(name, decode(value));
    for (const [, name = '', options = ''] of html.matchAll(
      /<select[^>]* name="([^"]*)"[^>]*>([^]*?)<\/select>/g,
    ))
      form.append(name, decode(/value="([^"]*)" selected/.exec(options)?.[1] ?? ''));
    for (const [name, value] of Object.entries(changes)) form.set(name, value);
    return form;
  };

  const argsOf = async (id: string): Promise<string | undefined> =>
    (await site.story.storage.jobs.findDocuments(id))?.args;

  it('has a field for each argument of a known type, and shows no secrets', async () => {
    await open();
    const { text } = await pageOf(await cancelled());
    expect(text).to.contain('name="args.orderId"').and.contain('value="12345678901234567890"');
    expect(text).to.match(/<select name="args.carrier"[^]*<option value="&#34;post&#34;" selected>post</);
    expect(text).to.contain('As in the shop').and.contain('&#34;city&#34;: &#34;Bonn&#34;');
    expect(text).not.to.match(/hunter2|&#34;t&#34;/);
  });

  it('changes what was changed, keeps the rest exactly, and retries the job', async () => {
    await open();
    const id = await cancelled();
    const address = '{ "city": "Kiel", "token": "redacted" }';
    const form = submitted(await pageOf(id), {
      'args.carrier': '"courier"',
      'args.address': address,
      queue: 'slow',
    });
    const answer = await post(`jobs/${id}/edit-and-retry`, form);
    expect(answer.status, textOf(answer.text)).to.equal(303);
    const changed = args.replace('"post"', '"courier"').replace('Bonn', 'Kiel');
    expect((await argsOf(id))?.replaceAll(' ', '')).to.equal(changed);
    expect(await site.story.storage.jobs.find(id)).to.include({ state: 'enqueued', queue: 'slow' });
    const [entry] = await site.story.storage.audit.list({ target: id, limit: 1 });
    expect(entry?.filter).to.deep.include({ values: { toQueue: 'slow', args: '…' } });
  });

  it('says at the field what to do, and keeps what was typed', async () => {
    await open();
    const id = await cancelled();
    const changes = { 'args.orderId': 'seven', 'args.note': 'Ring <twice>', priority: '1000' };
    const { status, text } = await post(`jobs/${id}/edit-and-retry`, submitted(await pageOf(id), changes));
    expect(status).to.equal(422);
    expect(text).to.match(/value="seven"[^>]*aria-describedby="error-args-orderId"/);
    expect(textOf(text)).to.contain('Write a number, such as 7 or 1.5');
    expect(textOf(text)).to.contain('Write a whole number from -100 to 100');
    expect(text).to.contain('value="Ring &lt;twice&gt;"');
    expect((await site.story.storage.jobs.find(id))?.state).to.equal('cancelled');
  });

  it('checks the arguments as the API does', async () => {
    await open();
    const id = await cancelled();
    const form = submitted(await pageOf(id), { 'args.orderId': '0' });
    const { status, text } = await post(`jobs/${id}/edit-and-retry`, form);
    expect([status, textOf(text)].join(' ')).to.match(/^422 .*orderId must be (>|&gt;)= 1/s);
  });

  it('refuses to overwrite a job that has changed meanwhile, and shows it again', async () => {
    await open();
    const id = await cancelled();
    const form = submitted(await pageOf(id), { priority: '7' });
    await site.story.storage.control.retry(id, { content: { priority: 3 } });
    await site.story.storage.control.cancel(id);
    const { status, text } = await post(`jobs/${id}/edit-and-retry`, form);
    expect([status, textOf(text)].join(' ')).to.match(
      /^409 .*The job has changed since this form was shown/s,
    );
    expect((await site.story.storage.jobs.find(id))?.priority).to.equal(3);
    expect(
      (await post(`jobs/${id}/edit-and-retry`, submitted({ status, text } as HttpResponse))).status,
    ).to.equal(303);
    expect((await site.story.storage.jobs.find(id))?.priority).to.equal(7);
  });

  it('has one field with JSON if the type is unknown, and keeps digits and secrets in it', async () => {
    await open([]);
    const id = await cancelled();
    const page = await pageOf(id);
    const shown = submitted(page).get('args') ?? '';
    expect(shown).to.contain('"apiKey": "redacted"');
    const form = submitted(page, { args: shown.replace('Bonn', 'Kiel') });
    expect((await post(`jobs/${id}/edit-and-retry`, form)).status).to.equal(303);
    expect((await argsOf(id))?.replaceAll(' ', '')).to.equal(args.replace('Bonn', 'Kiel'));
  });

  it('refuses new numbers that would lose digits, and “redacted” where there was no secret', async () => {
    await open([]);
    const id = await cancelled();
    const page = await pageOf(id);
    for (const wrong of ['{"n":98765432109876543210}', '{"password":"redacted"}', '[1]', '{'])
      expect(
        (await post(`jobs/${id}/edit-and-retry`, submitted(page, { args: wrong }))).status,
        wrong,
      ).to.equal(422);
    expect((await site.story.storage.jobs.find(id))?.state).to.equal('cancelled');
  });

  it('is not offered to viewers, nor for jobs that run', async () => {
    site = await openSite({
      authorize: () => ({ name: 'eve', role: 'viewer' }),
      control: ({ storage }) => storage,
    });
    expect((await pageOf(await cancelled())).text).not.to.contain('<textarea');
    expect(textOf((await pageOf(site.story.processingId)).text)).to.contain('This job is running.');
  });

  describe('that enqueues a job', () => {
    const enqueue = async (changes: Record<string, string>): Promise<HttpResponse> =>
      post('enqueue', submitted(await site.http.get('/job-dashboard/new-job?type=ship-order'), changes));

    it('stores the job with its audit entry, and leads to its page', async () => {
      await open();
      const { storage } = site.story;
      const values = {
        'args.orderId': '7',
        'args.carrier': '"courier"',
        tags: 'vip, eu',
        delay: '60',
        reason: 'Lost',
      };
      const { status, headers, text } = await enqueue({ ...values, queue: 'slow', priority: '-2' });
      expect(status, textOf(text)).to.equal(303);
      const [, id = ''] = /jobs\/([^?]+)/.exec(headers.location ?? '') ?? [];
      expect(await storage.jobs.find(id)).to.deep.include({
        name: 'ship-order',
        state: 'scheduled',
        queue: 'slow',
        priority: -2,
        args: { orderId: 7, carrier: 'courier' },
        tags: ['vip', 'eu'],
        runAt: new Date(storage.manualClock.now() + 60_000),
      });
      const [entry] = await storage.audit.list({ limit: 1 });
      expect(entry).to.include({ who: 'ada', action: 'jobs/enqueue', target: id, reason: 'Lost', count: 1 });
      const recorded = {
        name: 'ship-order',
        args: '…',
        queue: 'slow',
        priority: -2,
        tags: ['vip', 'eu'],
        delayMs: 60_000,
      };
      expect(entry?.filter).to.deep.include({ values: recorded });
      const page = await site.http.get(`/job-dashboard/${(headers.location ?? '').replace('./', '')}`);
      expect(textOf(page.text)).to.contain('The job has been enqueued.');
      expect(textOf((await site.http.get('/job-dashboard/audit')).text)).to.contain('ship-order');
    });

    it('stores nothing if a field is invalid, and says at the field what to do', async () => {
      await open();
      const { status, text } = await enqueue({
        'args.carrier': '"post"',
        at: '2020-01-01T00:00',
        queue: 'no name',
      });
      expect(status).to.equal(422);
      expect(text).to.match(/id="error-args-orderId">[^<]*is missing/);
      expect(text).to.match(/id="error-at">Write a date and a time in UTC/);
      expect(text)
        .to.match(/id="error-queue">Use 1 to 100 letters/)
        .and.contain('value="no name"');
      expect(await site.story.storage.audit.list({ limit: 1, action: 'jobs/enqueue' })).to.deep.equal([]);
    });

    it('takes JSON for a type that is not known', async () => {
      await open([]);
      expect((await enqueue({ args: '{"a":1}' })).status).to.equal(303);
      expect((await enqueue({ args: '[]' })).status).to.equal(422);
      const { text } = await site.http.get('/job-dashboard/new-job?type=no+name');
      expect(textOf(text)).to.contain('Use 1 to 100 letters');
    });

    it('is not served where the dashboard only shows', async () => {
      site = await openSite({ authorize: () => ({ name: 'ada', role: 'admin' }) });
      expect((await site.http.get('/job-dashboard/jobs')).text).not.to.contain('Enqueue a job');
      expect((await site.http.get('/job-dashboard/new-job?type=a')).text).not.to.contain('<textarea');
      expect((await post('enqueue', new URLSearchParams())).status).to.equal(404);
    });
  });
});
