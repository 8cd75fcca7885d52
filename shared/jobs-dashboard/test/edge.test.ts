import { expect } from 'chai';
import { MemoryStorage } from '@longshore/jobs';
import { httpClient, type HttpClient, type HttpResponse, serve } from '@longshore/test-support';
import { createDashboardHandler, type AccessRecord } from '../src/index.js';
import { openSite, type Site } from './dashboard-site.js';

const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('an address of the dashboard', () => {
  let site: Site;
  before(async () => (site = await openSite({ control: ({ storage }) => storage })));
  after(() => site.close());

  for (const path of [
    '/queues/%00',
    '/queues/a%00b',
    '/jobs/%00',
    '/recurring/%ff',
    '/types/%zz',
    '/batches/%',
    '/jobs?queue=%00',
    '/jobs?q=%ff',
    '/audit?target=%00',
    '/exports/jobs.csv?tag=%00',
    '/%00',
  ])
    it(`${path} is 400, because it cannot be read`, async () => {
      const { status, text } = await site.http.get(`/job-dashboard${path}`);
      expect(status).to.equal(400);
      expect(text).to.contain('This address cannot be read');
      expect(site.errors).to.deep.equal([]);
    });

  for (const path of [
    '/Job-Dashboard/jobs',
    '/JOB-DASHBOARD/Queues',
    '/job-dashboard/HELP',
    '/Job-Dashboard',
  ])
    it(`${path} is found, whatever its case`, async () =>
      expect((await site.http.get(path)).status).to.equal(200));

  it('contains ids in any case', async () => {
    const { failedId } = site.story;
    for (const path of [`jobs/${failedId.toUpperCase()}`, `jobs/${failedId.toUpperCase()}/log`]) {
      const { status, text } = await site.http.get(`/job-dashboard/${path}`);
      expect(status, path).to.equal(200);
      expect(text, path).to.contain(failedId).and.not.to.contain(failedId.toUpperCase());
    }
    expect((await site.http.get(`/job-dashboard/jobs?after=${failedId.toUpperCase()}`)).status).to.equal(200);
  });

  for (const name of Object.getOwnPropertyNames(Object.prototype))
    it(`is not confused by the name ${name}`, async () => {
      const pages = async (word: string): Promise<string[]> => {
        const answers = [];
        for (const path of [
          word,
          `${word}/x/y`,
          `jobs?sort=${word}&by=${word}`,
          `queues?sort=${word}`,
          `exports/${word}`,
        ])
          for (const method of ['GET', 'POST'])
            answers.push(await site.http.request(method, `/job-dashboard/${path}`, {}));
        return answers.map(({ status, text }) => `${status} ${/native code|\[object/.exec(text)?.[0] ?? ''}`);
      };
      expect(await pages(name)).to.deep.equal(await pages('colour'));
      expect((await pages(name)).join()).to.not.contain('native');
    });

  it('contains names as they are', async () =>
    expect((await site.http.get('/job-dashboard/queues/SEARCH')).text).to.contain('SEARCH'));

  for (const day of ['2026-02-30', '2026-02-30T10:00', '2025-02-29', '2026-04-31 00:00'])
    it(`has no times on ${day}`, async () => {
      const { text } = await site.http.get(`/job-dashboard/jobs?after=${encodeURIComponent(day)}`);
      expect(text).not.to.match(/2026-03-0[12]|2025-03-01|2026-05-01/);
      const filtered = await site.http.get(
        `/job-dashboard/jobs?search=${encodeURIComponent(`after:${day}`)}`,
      );
      expect(filtered.text).not.to.match(/2026-03-02|2025-03-01|2026-05-01/);
    });
});

describe('a form of the dashboard', () => {
  let site: Site;
  before(async () => (site = await openSite({ control: ({ storage }) => storage })));
  after(() => site.close());

  const token = async (path: string): Promise<string> => {
    const { text } = await site.http.get(`/job-dashboard${path}`);
    return /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
  };

  for (const name of Object.getOwnPropertyNames(Object.prototype))
    it(`is not confused by the name ${name} in its address`, async () => {
      const body = `token=${encodeURIComponent(await token(`/jobs/${site.story.failedId}`))}`;
      const submit = async (word: string): Promise<string> => {
        const { status, text } = await site.http.post(`/job-dashboard/${word}/x/y`, body, { headers: form });
        return `${status} ${text.replaceAll(word, 'NAME')}`;
      };
      expect(await submit(name)).to.equal(await submit('colour'));
    });

  for (const field of ['reason=%00', 'reason=%ff', 'at=%zz'])
    it(`with ${field} is 400 and changes nothing`, async () => {
      const path = `/jobs/${site.story.failedId}`;
      const body = `token=${encodeURIComponent(await token(path))}&${field}`;
      const { status, text } = await site.http.post(`/job-dashboard${path}/retry`, body, { headers: form });
      expect(status).to.equal(400);
      expect(text).to.contain('This form cannot be read');
      expect((await site.story.storage.jobs.find(site.story.failedId))?.state).to.equal('failed');
    });

  for (const [path, fields] of [
    ['bulk-cancel', 'which=tag%3D%2500'],
    ['bulk-cancel', 'which=queue%3D%25ff'],
    ['searches/save', 'name=x&search=tag%3D%2500'],
  ] as const)
    it(`of /${path} with a query in a field that cannot be read (${fields}) is 400`, async () => {
      const body = `token=${encodeURIComponent(await token(`/jobs/${site.story.failedId}`))}&${fields}`;
      const { status, text } = await site.http.post(`/job-dashboard/${path}`, body, { headers: form });
      expect(status).to.equal(400);
      expect(text).to.contain('This form cannot be read');
      expect([await site.story.storage.savedSearches.list(), site.errors]).to.deep.equal([[], []]);
    });

  it('does not turn 30 February into 2 March', async () => {
    const { scheduledId, storage } = site.story;
    const before = await storage.jobs.find(scheduledId);
    const body = `token=${encodeURIComponent(await token(`/jobs/${scheduledId}`))}&at=2027-02-30T10%3A00`;
    const { status } = await site.http.post(`/job-dashboard/jobs/${scheduledId}/reschedule`, body, {
      headers: form,
    });
    expect(status).to.equal(422);
    expect((await storage.jobs.find(scheduledId))?.runAt).to.deep.equal(before?.runAt);
  });
});

describe('the origin of a form', () => {
  let site: Site;
  before(async () => {
    site = await openSite({ password: 'correct horse', baseUrl: 'https://Ops.example.com/job-dashboard' });
  });
  after(() => site.close());

  const signIn = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    const { text } = await site.http.get('/job-dashboard', { headers });
    const token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const body = `password=correct+horse&token=${encodeURIComponent(token)}`;
    return (await site.http.post('/job-dashboard/sign-in', body, { headers: { ...form, ...headers } }))
      .status;
  };

  it('may be that of baseUrl, whatever Host a proxy sends', async () =>
    expect(await signIn({ host: '127.0.0.1:8081', origin: 'https://ops.example.com' })).to.equal(303));

  it('may be the Host', async () =>
    expect(await signIn({ host: 'here.example', origin: 'http://here.example' })).to.equal(303));

  for (const origin of [
    'https://evil.example',
    'http://ops.example.com',
    'https://ops.example.com.evil.example',
    'null',
  ])
    it(`must not be ${origin}`, async () =>
      expect(await signIn({ host: '127.0.0.1:8081', origin })).to.equal(403));
});

describe('a client of a mounted dashboard', () => {
  const serveHandler = async (
    trustedProxies: number,
    act: (http: HttpClient, records: readonly AccessRecord[]) => Promise<void>,
  ): Promise<void> => {
    const storage = new MemoryStorage();
    await storage.open();
    const records: AccessRecord[] = [];
    const handler = createDashboardHandler({
      storage,
      password: 'correct horse',
      now: () => 0,
      trustedProxies,
      onAccess: (record) => void records.push(record),
    });
    const server = await serve((request, response) => handler(request, response));
    try {
      await act(httpClient(server.url), records);
    } finally {
      await server.close();
      await storage.close();
    }
  };
  const guess = (http: HttpClient, forwarded: string): Promise<HttpResponse> =>
    http.get('/job-dashboard', {
      headers: { authorization: `Basic ${btoa('x:wrong')}`, 'x-forwarded-for': forwarded },
    });

  it('cannot choose its own address to guess on', async () => {
    for (const [trusted, last] of [
      [0, ''],
      [1, ', 192.0.2.1'],
      [2, ', 192.0.2.1, 10.0.0.1'],
    ] as const)
      await serveHandler(trusted, async (http, records) => {
        const statuses: number[] = [];
        for (let address = 0; address < 12; address += 1)
          statuses.push((await guess(http, `203.0.113.${address}${last}`)).status);
        expect(statuses, `${trusted} proxies`).to.deep.equal([...Array<number>(10).fill(401), 429, 429]);
        expect(new Set(records.map(({ address }) => address)).size, `${trusted} proxies`).to.equal(1);
      });
  });

  it('cannot choose another address of its network', async () => {
    await serveHandler(1, async (http) => {
      const statuses: number[] = [];
      for (let address = 0; address < 12; address += 1)
        statuses.push((await guess(http, `2001:db8:1:2:${address}::1`)).status);
      expect(statuses.slice(10)).to.deep.equal([429, 429]);
      expect((await guess(http, '2001:db8:1:3::1')).status).to.equal(401);
    });
  });

  it('counts by an honest number of proxies', () => {
    for (const trustedProxies of [-1, 0.5, Number.NaN])
      expect(() => createDashboardHandler({ storage: new MemoryStorage(), trustedProxies })).to.throw(
        TypeError,
      );
  });
});
