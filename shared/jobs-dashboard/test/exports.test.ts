import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { overriding } from '@longshore/test-support';
import { StorageUnavailableError } from '@longshore/jobs';
import type { BriefJob, JobListQuery, SearchedRange } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { exportFormats, exportList } from '../src/downloads/export.js';
import { exportedLists } from '../src/downloads/exported-lists.js';
import type { RowPage } from '../src/downloads/exported-list.js';
import type { DashboardReader, DashboardStorage } from '../src/index.js';
import { openSite, type Site } from './dashboard-site.js';

interface Exported {
  readonly rows: readonly Record<string, unknown>[];
  readonly complete: boolean;
  readonly incomplete: { readonly why: string; readonly after: string | null } | null;
}

type List = (query: JobListQuery) => Promise<BriefJob[]>;
type Range = (after: string | undefined) => SearchedRange;

describe('An export', () => {
  const everything: Range = () => ({ lastIds: {}, unfinished: [] });
  const args = `{"id":900719925474099312345,"token":"t-1","text":"${'x'.repeat(100_000)}"}`;
  let site: Site;
  let job: BriefJob;
  /** A replacement for the storage's `listBrief`; `null` to use the original. */
  let list: List | null = null;
  let range = everything;

  before(async () => {
    site = await openSite({
      read: ({ storage }) =>
        overriding(storage as DashboardStorage, {
          jobs: {
            listBrief: async (query) =>
              list === null ? storage.jobs.listBrief(query) : { jobs: await list(query), isComplete: true },
            searchedRange: async ({ after }) => range(after),
            findDocuments: async () => ({ args, result: 'null' }),
          },
        }),
    });
    const [first] = (await site.story.storage.jobs.listBrief({ limit: 1 })).jobs;
    if (first === undefined) throw new Error('There are no jobs');
    job = first;
    const entry = { who: 'ann', action: 'queues/pause', target: 'mail', filter: null, count: 1 };
    await site.story.storage.audit.record(entry);
  });

  afterEach(() => {
    list = null;
    range = everything;
  });

  after(() => site.close());

  const textOf = async (path: string): Promise<string> =>
    (await site.http.get(`/job-dashboard/export/${path}`)).text;
  const exported = async (path: string): Promise<Exported> => JSON.parse(await textOf(path)) as Exported;

  it('contains the jobs of the list, newest first, in both formats', async () => {
    const { rows, complete } = await exported('jobs.json?state=failed');
    expect(complete).to.equal(true);
    expect(new Set(rows.map(({ state }) => state))).to.deep.equal(new Set(['failed']));
    const ids = rows.map(({ id }) => String(id));
    expect(ids).to.deep.equal(ids.toSorted().toReversed()).and.to.have.length.above(1);
    const lines = (await textOf('jobs.csv?state=failed')).split('\r\n').filter(Boolean);
    expect(lines[0]).to.match(/^id,name,queue,state,/);
    expect(lines).to.have.length(rows.length + 1);
  });

  it('has a column for each member of its rows, such as who paused a queue, until when and why', async () => {
    const { storage } = site.story;
    const source = { reader: storage as DashboardReader, nowMs: storage.clock.now(), redact: /password/ };
    for (const [name, { columns, read }] of Object.entries(exportedLists)) {
      const first: IteratorResult<RowPage, undefined> = await read(new URLSearchParams(), source).next();
      const [row] = first.value?.rows ?? [];
      if (row === undefined) throw new Error(`There are no ${name}`);
      expect(Object.keys(row), name).to.have.members(columns);
    }
  });

  it('finds words beyond the jobs that are searched at once, each match once', async () => {
    const [first, last, second, third] = ['9', '7', '5', '2'].map(
      (digit) => `0190000${digit}-0000-7000-8000-000000000000`,
    ) as [string, string, string, string];
    const asked: (string | undefined)[] = [];
    list = async ({ after }) => {
      asked.push(after);
      return [first, second, third].filter((id) => id < (after ?? 'g')).map((id) => ({ ...job, id }));
    };
    // The first search ends between the matches. The second search reaches the end.
    range = (after) => ({ lastIds: after === undefined ? { failed: last } : {}, unfinished: [] });
    const { rows, complete } = await exported('jobs.json?words=ada');
    expect(rows.map(({ id }) => id)).to.deep.equal([first, second, third]);
    expect(asked).to.deep.equal([undefined, last]);
    expect(complete).to.equal(true);
  });

  it('keeps spreadsheets from running its cells as formulas', async () => {
    for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1']) {
      const name = `${text},"x`;
      list = async () => [{ ...job, name }];
      expect(await textOf('jobs.csv')).to.include(`,"'${name.replaceAll('"', '""')}",`);
    }
  });

  it('has no values under keys that look like secrets', async () => {
    list = async () => [{ ...job, args: { user: 'ada', password: 'hunter2', id: 2 ** 60 } }];
    expect(await textOf('jobs.csv'))
      .to.include('""user"":""ada"",""password"":""redacted"",""id"":""≈1152921504606847000""')
      .and.not.include('hunter2');
  });

  it('shortens messages of errors without cutting a character', async () => {
    const error = { name: 'Error', stack: null };
    for (const before of [997, 998, 999, 1_000]) {
      const message = `${'x'.repeat(before)}${'🛟'.repeat(9)}`;
      list = async () => [{ ...job, error: { ...error, message } }];
      const { rows } = await exported('jobs.json');
      const shown = String(rows[0]?.['errorMessage']);
      expect(shown).to.match(/^x+(🛟)*…$/u);
      expect(shown.length).to.be.within(990, 1_001);
      expect(await textOf('jobs.csv')).to.include(shown);
    }
  });

  it('reads no further than the client does', async () => {
    let reads = 0;
    list = async ({ limit }) => {
      reads += 1;
      return Array.from({ length: limit }, () => ({ ...job, tags: ['x'.repeat(2_000)] }));
    };
    const request = get(`${site.url}/job-dashboard/export/jobs.csv`);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    for (let before = -1; before < reads; await site.http.get('/job-dashboard/help')) before = reads;
    expect(reads).to.be.below(20);
    request.destroy();
  });

  it('says at its end that the storage did not respond', async () => {
    let reads = 0;
    list = async ({ limit }) => {
      reads += 1;
      if (reads > 1) throw new StorageUnavailableError('gone');
      return Array.from({ length: limit }, () => job);
    };
    expect((await textOf('jobs.csv')).trim().split('\r\n').at(-1)).to.equal(
      `Incomplete: The storage did not respond. Continue with the parameter after=${job.id}`,
    );
  });

  it('says which bound has ended it, and from where to continue', async () => {
    async function* pages(): AsyncGenerator<RowPage> {
      for (let id = 0; ; id += 1) yield { rows: [{ id }], next: String(id) };
    }
    const endOf = async (bounds: { maxRows?: number; maxMs?: number; closing?: AbortSignal }) => {
      const laterPages = pages();
      const exportBounds = { maxRows: 3, maxMs: 3_600_000, closing: undefined, onError: () => {}, ...bounds };
      let text = '';
      for await (const piece of exportList(
        await laterPages.next(),
        laterPages,
        exportFormats.json(['id']),
        exportBounds,
      ))
        text += piece;
      const { rows, incomplete } = JSON.parse(text) as Exported;
      return [rows.length, incomplete];
    };
    expect(await endOf({})).to.deep.equal([3, { why: 'The limit is 3 rows.', after: '2' }]);
    expect(await endOf({ maxMs: 0 })).to.deep.equal([1, { why: 'The limit is 0 seconds.', after: '0' }]);
    expect(await endOf({ closing: AbortSignal.abort() })).to.deep.equal([
      1,
      { why: 'The dashboard was shut down.', after: '0' },
    ]);
  });

  const lists = {
    queues: 'name',
    recurring: 'cron',
    servers: 'heartbeatAt',
    batches: 'total',
    audit: 'action',
  };
  for (const [name, member] of Object.entries(lists)) {
    it(`of ${name} has all rows`, async () => {
      const { rows, complete } = await exported(`${name}.json`);
      expect(complete).to.equal(true);
      expect(rows[0]?.[member]).not.to.be.oneOf([null, undefined]);
    });
  }

  it('of the audit has the reasons of actions, and why others were refused', async () => {
    const { storage } = site.story;
    const entry = { who: 'ann', action: 'queues/pause', target: 'csv', count: 0 };
    await storage.audit.record({
      ...entry,
      reason: 'PSP outage',
      filter: { outcome: 'refused', why: 'No such queue' },
    });
    const [heading = '', row = ''] = (await textOf('audit.csv?target=csv')).split('\r\n');
    const columns = heading.replace('\uFEFF', '').split(',');
    const cells = row.split(',');
    const cell = (name: string): string | undefined => cells[columns.indexOf(name)];
    expect([cell('reason'), cell('outcome'), cell('why')]).to.deep.equal([
      'PSP outage',
      'refused',
      'No such queue',
    ]);
  });

  const invalid = { 'none.csv': 404, 'jobs.xml': 404, 'jobs.csv?state=x': 400, 'jobs.csv?after=x': 400 };
  const places = {
    'jobs.csv?after=7': 400,
    'batches.csv?after=7': 400,
    'audit.csv?after=00000000-0000-7000-8000-000000000000': 400,
  };
  for (const [path, status] of Object.entries({ ...invalid, ...places, 'jobs.csv?args.password=x': 400 })) {
    it(`from ${path} is answered with ${status}`, async () => {
      expect((await site.http.get(`/job-dashboard/export/${path}`)).status).to.equal(status);
    });
  }

  it('of a document is the whole, redacted and with all digits', async () => {
    const { text, headers } = await site.http.get(`/job-dashboard/jobs/${job.id}/args.json`);
    expect(headers['content-disposition']).to.equal(`attachment; filename="${job.id}-args.json"`);
    expect(text).to.include('"id": 900719925474099312345').and.include('"token": "redacted"');
    expect(text).to.include('x'.repeat(100_000));
    expect(JSON.parse(text)).to.have.keys('id', 'token', 'text');
  });
});
