import { defineJob, JobClient } from '@longshore/jobs';
import { defaultRedaction, searchableRedaction } from '@longshore/jobs/storage';
import { expect } from 'chai';
import {
  filterQuery,
  type Filters,
  filtersIn,
  jobsPath,
  type Term,
  type TermKey,
} from '../src/search/filters.js';
import { parseSearch, searchText } from '../src/search/search.js';
import { openSite, type Site } from './dashboard-site.js';

const id = '0198c0de-0000-7000-8000-00000000abcd';
const reading = { nowMs: 0, redact: defaultRedaction };

describe('a search', () => {
  for (const text of [
    id,
    ` ${id}\n`,
    id.toUpperCase(),
    `id:${id}`,
    `https://example.com/jobs/${id}?x=1`,
    `job "${id}" failed`,
  ]) {
    it(`finds the id in ${JSON.stringify(text)}`, () => {
      expect(parseSearch(text)).to.deep.equal({ kind: 'id', id });
    });
  }

  const terms = (...pairs: [TermKey, string][]): Term[] => pairs.map(([key, value]) => ({ key, value }));

  for (const [text, filters] of [
    ['', {}],
    ['refused 4242', { terms: terms(['q', 'refused'], ['q', '4242']) }],
    ['mail:send', { terms: terms(['q', 'mail:send']) }],
    ['q:"two words"', { terms: terms(['q', 'two words']) }],
    ['name:a name:b', { terms: terms(['name', 'a'], ['name', 'b']) }],
    ['queue:mail state:failed', { terms: terms(['queue', 'mail']), state: 'failed' }],
    ['QUEUE:Mail State:FAILED', { terms: terms(['queue', 'Mail']), state: 'failed' }],
    ['queue:"two words" name:x', { terms: terms(['queue', 'two words'], ['name', 'x']) }],
    ['tag:x batch:y', { terms: terms(['tag', 'x'], ['batch', 'y']) }],
    [`batch:${id} args.order.id:"${id}"`, { terms: terms(['batch', id], ['args.order.id', id]) }],
    [`tag:${id}`, { terms: terms(['tag', id]) }],
    [`q:${id}`, { terms: terms(['q', id]) }],
    [
      'finished-after:2h finished-before:1h',
      { terms: terms(['finished-after', '2h'], ['finished-before', '1h']) },
    ],
    ['error:"no ""x"" here"', { terms: terms(['error', 'no "x" here']) }],
    ['ARGS.customerId:77', { terms: terms(['args.customerId', '77']) }],
    ['after:2h before:2026-03-01T14:05', { terms: terms(['after', '2h'], ['before', '2026-03-01T14:05Z']) }],
    ['after:2026-03-01T14:05+01:00', { terms: terms(['after', '2026-03-01T14:05+01:00']) }],
  ] satisfies [string, Partial<Filters>][]) {
    it(`reads ${JSON.stringify(text)} as filters`, () => {
      expect(parseSearch(text)).to.deep.equal({
        kind: 'filters',
        filters: { state: null, terms: [], ...filters },
      });
    });
  }

  for (const text of [
    'queue:',
    'state:lost',
    'id:12',
    'args:1',
    'args..a:1',
    'args.a.:1',
    'after:yesterday',
    'before:2026-13-01',
    'finished-after:soon',
    'after:1constructor',
    'after:999999w',
  ]) {
    it(`explains why ${text} is invalid`, () => {
      expect(parseSearch(text)).to.have.property('kind', 'misunderstood');
    });
  }

  it('reads its own text back', () => {
    const filters = {
      state: null,
      terms: terms(
        ['queue', 'a'],
        ['tag', 'b c'],
        ['args.a.0', 'x:y'],
        ['q', 'word'],
        ['q', 'tag:x y'],
        ['q', id],
        ['fingerprint', 'SyntaxError: Unexpected token "<", "<!doctype "... is not JSON'],
        ['error', '"'],
        ['error', String.raw`"C:\\"`],
      ),
    };
    expect(parseSearch(searchText(filters))).to.deep.equal({ kind: 'filters', filters });
  });

  it('matches both numbers and strings in arguments', () => {
    const { args } = filterQuery(
      { state: null, terms: terms(['args.a.b', '7'], ['args.a.b', '07']) },
      reading,
    );
    expect(args).to.deep.equal([{ path: ['a', 'b'], values: ['7', 7, '07'] }]);
  });

  it('does not round numbers with more digits than JavaScript can hold', () => {
    const big = ['9007199254740993', '1e400', '0.10000000000000000001', '1e-400'];
    const { args } = filterQuery(
      { state: null, terms: terms(...big.map((text): [TermKey, string] => ['args.id', text])) },
      reading,
    );
    expect(args).to.deep.equal([{ path: ['id'], values: big }]);
  });

  it('survives the page’s address', () => {
    const filters: Filters = {
      state: 'done',
      terms: terms(['after', '2h'], ['before', '1h'], ['tag', 'ä&'], ['q', 'word']),
    };
    const query = new URL(jobsPath(filters, { after: id }), 'http://dashboard.test').searchParams;
    expect(filtersIn(query)).to.deep.equal(filters);
  });

  it('redirects to the job, to the filtered list, or back with an error', async () => {
    const site = await openSite();
    try {
      const go = (query: string) => site.http.get(`/job-dashboard/jobs?${query}`);
      expect((await go(`q=${id}`)).headers.location).to.equal(`./jobs/${id}`);
      expect((await go('q=queue%3Amail&state=done')).headers.location).to.equal(
        './jobs?state=done&queue=mail',
      );
      const { batchId, serverId, operationId } = site.story;
      expect((await go(`q=${batchId}`)).headers.location).to.equal(`./batches/${batchId}`);
      expect((await go(`q=${serverId}`)).headers.location).to.equal(`./servers/${serverId}`);
      expect((await go(`q=${operationId}`)).headers.location).to.equal(`./bulk/${operationId}`);
      const invalidSearch = await go('q=args%3Ax');
      expect([
        invalidSearch.status,
        invalidSearch.text.includes('“args:” cannot be searched for'),
      ]).to.deep.equal([200, true]);
    } finally {
      await site.close();
    }
  });
});

describe('a redacted value', () => {
  let site: Site;
  before(async () => {
    site = await openSite({ control: ({ storage }) => storage });
    const args = {
      password: 'hunter2',
      note: 'visible',
      headers: [
        { name: 'Authorization', value: 'hunter2' },
        { name: 'Accept', value: 'visible' },
      ],
      pairs: [['cookie', 'hunter2']],
      account: { secrets: { deep: ['hunter2'] } },
    };
    await new JobClient(site.story.storage).enqueue(defineJob({ name: 'secretive' }), args);
  });
  after(() => site.close());
  const page = async (path: string): Promise<{ status: number; text: string }> =>
    site.http.get(`/job-dashboard/${path}`);

  it('cannot be guessed by searching for it', async () => {
    const { status, text } = await page('jobs?args.payment.cardToken=tok_1');
    expect([status, text.includes('cannot be searched')]).to.deep.equal([400, true]);
  });

  for (const guess of ['hu', 'hunter', 'hunter2', 'nter2'])
    it(`is not found, counted, exported or selected by the word ${guess}`, async () => {
      for (const path of [
        `jobs?words=secretive&words=${guess}`,
        `jobs?words=secretive&words=${guess}&state=enqueued`,
        `jobs?words=secretive&words=${guess}&order=oldest`,
        `jobs?words=secretive&words=${guess}&by=queue`,
        `export/jobs.csv?words=secretive&words=${guess}`,
        `bulk/confirm?words=secretive&words=${guess}&action=cancel`,
      ]) {
        const { text } = await page(path);
        expect(text.match(/jobs\/[\da-f-]{36}|^[\da-f-]{36},|\b1 job\b/gm), path).to.equal(null);
      }
    });

  it('does not keep visible values from being found', async () => {
    const { text } = await page('jobs?words=secretive&words=visible');
    expect(text).to.match(/jobs\/[\da-f]{8}-/);
  });

  it('is not found in an entry whose name is redacted', async () => {
    const links = async (path: string) => (await page(path)).text.match(/jobs\/[\da-f-]{36}/g) ?? [];
    expect(await links('jobs?args.headers.0.value=hunter2')).to.deep.equal([]);
    expect(await links('jobs?args.headers.1.value=visible')).to.not.deep.equal([]);
    const { text } = await page('jobs?name=secretive&by=args.headers.0.value');
    expect(text).to.not.include('hunter2');
  });

  it('requires a pattern that searches can follow', async () => {
    for (const redact of [/\bpin\b/, /\p{L}/u, /(?<=x)y/, /(a)\1/, /[[:alpha:]]/])
      expect(() => searchableRedaction(redact), String(redact)).to.throw(TypeError, 'Postgres does not know');
    for (const redact of [/password/, /key/g, defaultRedaction, /^a{2,3}[^b-d\]\s]|(?!x)\d+\.\/$/])
      expect(searchableRedaction(redact)).to.equal(redact.source);
    const failure = await openSite({ redact: /\bpin\b/ }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(TypeError);
  });
});
