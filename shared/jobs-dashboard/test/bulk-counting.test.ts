import { StorageUnavailableError } from '@longshore/jobs';
import type { BriefJob, BulkPreview, JobCount } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { etagIn, openSite, type Site, textOf } from './dashboard-site.js';

/** A count that does not finish until the test calls `resolve` or `reject`. */
class Counting {
  #resolve!: (preview: BulkPreview) => void;
  reject!: (error: Error) => void;
  readonly promise = new Promise<BulkPreview>((resolve, reject) => {
    this.#resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    this.promise.catch(() => undefined);
  }

  resolve(count: JobCount, oldestSearchedIds: BulkPreview['oldestSearchedIds'] = {}): void {
    this.#resolve({ count, oldestSearchedIds, asOf: new Date('2026-03-01T15:00:00Z') });
  }
}

describe('the confirmation of a bulk action, before its jobs are counted', () => {
  const path = '/job-dashboard/bulk/confirm?action=retry&state=failed';
  let site: Site;
  let near: BriefJob[] = [];
  let counting = new Counting();

  const get = async (): Promise<string> => (await site.http.get(path)).text;

  beforeEach(async () => {
    counting = new Counting();
    site = await openSite({
      control: ({ storage }) => storage,
      read: ({ storage }) =>
        overriding(storage, {
          jobs: {
            listBrief: async ({ reach }) => {
              if (reach === 'near') return { jobs: near, isComplete: near.length > 0 };
              await counting.promise;
              return { jobs: near, isComplete: true };
            },
          },
          bulk: { preview: () => counting.promise },
        }),
    });
    const { jobs } = await site.story.storage.jobs.listBrief({ filter: { state: ['failed'] }, limit: 1 });
    const [failed] = jobs;
    near = failed === undefined ? [] : Array.from({ length: 100 }, () => failed);
  });
  afterEach(() => site.close());

  it('is shown at once, with what is known so far', async () => {
    const html = await get();
    expect(textOf(html)).to.include('At least 100 jobs').and.include('Counting the jobs');
    expect(html).not.to.include('name="which"');
    expect(html).to.match(/data-region="jobs" data-every="500"/);
  });

  it('is completed once they are counted', async () => {
    const etag = etagIn(await get(), 'jobs');
    counting.resolve({ count: 10_000, exact: false });
    const headers = { 'longshore-region': 'jobs', 'if-none-match': etag };
    const { status, text } = await site.http.get(path, { headers });
    expect(status).to.equal(200);
    expect(textOf(text)).to.include('At least 10,000 jobs').and.not.include('Counting the jobs');
    expect(text).to.include('>Retry all matching jobs</button>').and.include('data-every="5000"');
  });

  it('does not claim that there are no jobs while none is known yet', async () => {
    near = [];
    expect(textOf(await get()))
      .to.include('Not counted yet')
      .and.not.include('None of these jobs');
  });

  it('shows how far back words were searched, and passes that on', async () => {
    counting.resolve({ count: 7, exact: true }, { failed: '0195514a-0000-7000-8000-000000000000' });
    const html = await get();
    expect(textOf(html)).to.match(
      /most recent 10,000 finished jobs .* \(back to .*Older jobs are not changed/,
    );
    expect(html).to.include('0195514a-0000-7000-8000-000000000000&#34;');
    expect(html).to.include('>Retry 7 jobs</button>');
  });

  it('shows that the storage gave up counting', async () => {
    counting.reject(new StorageUnavailableError('too slow'));
    const html = await get();
    expect(textOf(html)).to.include('At least 100 jobs').and.include('Counting took too long');
    expect(html).to.include('data-every="5000"');
  });

  it('cannot be confirmed if the storage gave up searching words', async () => {
    counting.reject(new StorageUnavailableError('too slow'));
    const { text } = await site.http.get(`${path}&words=refused`);
    expect(textOf(text)).to.include('Counting took too long. Narrow the search');
    expect(text).not.to.include('name="confirmed"');
  });
});
