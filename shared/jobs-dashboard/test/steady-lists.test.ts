import type { JobState } from '@longshore/jobs';
import type { BriefJob } from '@longshore/jobs/storage';
import { eventually, overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { etagIn, openSite, type Site, textOf } from './dashboard-site.js';

type Counts = Awaited<ReturnType<Site['story']['storage']['jobs']['countByState']>>;

/** Reads that do not finish until the test calls `end`. */
class Reads<T> {
  readonly #ends: ((value: T) => void)[] = [];

  begin(): Promise<T> {
    return new Promise((resolve) => this.#ends.push(resolve));
  }

  get underWay(): number {
    return this.#ends.length;
  }

  /** Ends all running reads with this value, then waits for pending promise callbacks. */
  async end(value: T): Promise<void> {
    for (const end of this.#ends.splice(0)) end(value);
    await new Promise(setImmediate);
  }
}

describe('a filtered list with slow counts and searches', () => {
  const path = '/job-dashboard/jobs?queue=mail&state=failed&order=oldest';
  let site: Site;
  let counting = new Reads<Counts>();
  let searching = new Reads<BriefJob[]>();
  let isComplete = true;

  beforeEach(async () => {
    counting = new Reads();
    searching = new Reads();
    isComplete = true;
    site = await openSite({
      control: ({ storage }) => storage,
      read: ({ storage }) =>
        overriding(storage, {
          jobs: {
            countByState: () => counting.begin(),
            listBrief: async (query) => {
              if (query.reach === 'history') return { jobs: await searching.begin(), isComplete: true };
              if (query.reach === 'near' && !isComplete) return { jobs: [], isComplete };
              return storage.jobs.listBrief(query);
            },
          },
        }),
    });
  });
  afterEach(() => site.close());

  const get = async (at = path): Promise<string> => (await site.http.get(at)).text;
  const refresh = (name: string, etag: string) =>
    site.http.get(path, { headers: { 'longshore-region': name, 'if-none-match': etag } });
  const later = (ms: number): void => site.story.storage.manualClock.advance(ms);
  const counts = (failed: number): Counts => {
    const exactly = (count: number) => ({ count, exact: true });
    const none = Object.fromEntries(
      ['scheduled', 'awaiting', 'enqueued', 'processing', 'done', 'cancelled'].map((state) => [
        state,
        exactly(0),
      ]),
    ) as Record<Exclude<JobState, 'failed'>, ReturnType<typeof exactly>>;
    return { ...none, failed: exactly(failed) };
  };
  const failedJobs = async (): Promise<BriefJob[]> =>
    (await site.story.storage.jobs.listBrief({ filter: { state: ['failed'] }, limit: 2 })).jobs;

  it('shows finished counts on the next reload', async () => {
    expect(await get()).to.include('Retry all that match…');
    await counting.end(counts(30));
    later(1_500);
    expect(await get())
      .to.include('Retry all 30…')
      .and.not.include('…</span>');
  });

  it('does not change while it is counted again', async () => {
    await get();
    await counting.end(counts(30));
    const etag = etagIn(await get(), 'tabs');
    await counting.end(counts(30));
    for (let look = 0; look < 4; look += 1) {
      later(5_000);
      expect((await refresh('tabs', etag)).status).to.equal(304);
      expect(counting.underWay).to.equal(1);
      await counting.end(counts(30));
    }
  });

  it('shows new counts as soon as they are available', async () => {
    await get();
    await counting.end(counts(30));
    later(5_000);
    expect(await get()).to.include('Retry all 30…');
    await counting.end(counts(31));
    later(5_000);
    expect(await get()).to.include('Retry all 31…');
  });

  it('shows the age of old counts, and is refreshed soon', async () => {
    await get();
    await counting.end(counts(30));
    later(60_000);
    const html = await get();
    expect(textOf(html)).to.match(/30 jobs match \(counted 1 min\w* ago \)/);
    expect(html).to.match(/data-region="tabs" data-every="500"/);
  });

  it('never shows the counts of another list', async () => {
    await get();
    await counting.end(counts(30));
    expect(await get('/job-dashboard/jobs?queue=images&state=failed')).to.include('Retry all that match…');
  });

  it('counts again after an action', async () => {
    await get();
    await counting.end(counts(30));
    const page = await get(`/job-dashboard/jobs/${site.story.failedId}`);
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(page) ?? [];
    const form = new URLSearchParams({ token }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status } = await site.http.post(`/job-dashboard/jobs/${site.story.failedId}/retry`, form, {
      headers,
    });
    expect(status).to.equal(303);
    expect(await get()).to.include('Retry all that match…');
  });

  it('shows the jobs found since on the next reload', async () => {
    isComplete = false;
    expect(textOf(await get())).to.include('No matches among the most recent jobs');
    await searching.end(await failedJobs());
    later(1_500);
    const html = await get();
    expect(html.match(/<tr role="row" data-key/g)).to.have.length(2);
    expect(html).not.to.include('Still searching');
  });

  it('keeps the jobs that it found while searching again', async () => {
    isComplete = false;
    await get();
    await searching.end(await failedJobs());
    const etag = etagIn(await get(), 'list');
    for (let look = 0; look < 3; look += 1) {
      later(5_000);
      expect((await refresh('list', etag)).status).to.equal(304);
      await searching.end(await failedJobs());
    }
  });

  it('searches its jobs once, before counting, and not again for each count', async () => {
    isComplete = false;
    await get();
    expect([searching.underWay, counting.underWay]).to.deep.equal([1, 0]);
    later(1_000);
    await searching.end([]);
    expect([searching.underWay, counting.underWay]).to.deep.equal([0, 1]);
    later(1_000);
    await counting.end(counts(30));
    later(20_000);
    await get();
    await eventually(
      () => counting.underWay,
      (reads) => reads === 1,
    );
    expect(searching.underWay).to.equal(0);
  });

  it('shows when its jobs were searched, if that is a while ago', async () => {
    isComplete = false;
    await get();
    await searching.end(await failedJobs());
    later(60_000);
    expect(textOf(await get())).to.match(/All of history was searched 1 min\w* ago/);
  });

  for (const page of ['batches', 'recurring'] as const)
    it(`does not delay the page of a ${page === 'batches' ? 'batch' : 'recurring job'} that lists its jobs`, async () => {
      isComplete = false;
      const { batchId, recurringId } = site.story;
      const at = `/job-dashboard/${page}/${page === 'batches' ? batchId : recurringId}`;
      expect(await get(at)).to.include('Still searching older jobs');
      await searching.end(await failedJobs());
      later(1_500);
      expect(await get(at)).not.to.include('Still searching older jobs');
    });
});
