import { StorageUnavailableError } from '@longshore/jobs';
import type { BriefJob, JobCount } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { etagIn, openSite, type Site, textOf } from './dashboard-site.js';

/** A count that comes when the test says so. */
class Counting {
  resolve!: (count: JobCount) => void;
  reject!: (error: Error) => void;
  readonly promise = new Promise<JobCount>((resolve, reject) => Object.assign(this, { resolve, reject }));

  constructor() {
    this.promise.catch(() => undefined);
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
            count: () => counting.promise,
          },
        }),
    });
    const { jobs } = await site.story.storage.jobs.listBrief({ filter: { state: ['failed'] }, limit: 1 });
    const [failed] = jobs;
    near = failed === undefined ? [] : Array.from({ length: 100 }, () => failed);
  });
  afterEach(() => site.close());

  it('is shown at once, with what is known so far', async () => {
    const html = await get();
    expect(textOf(html)).to.include('100+ jobs at the moment').and.include('Still counting');
    expect(html).to.include('>Retry 100+ jobs</button>');
    expect(html).to.match(/data-region="jobs" data-every="500"/);
  });

  it('is completed once they are counted', async () => {
    const etag = etagIn(await get(), 'jobs');
    counting.resolve({ count: 10_000, exact: false });
    const headers = { 'longshore-region': 'jobs', 'if-none-match': etag };
    const { status, text } = await site.http.get(path, { headers });
    expect(status).to.equal(200);
    expect(textOf(text)).to.include('10,000+ jobs at the moment').and.not.include('Still counting');
    expect(text).to.include('>Retry 10,000+ jobs</button>').and.include('data-every="5000"');
  });

  it('offers the action on all matching jobs if none is known yet', async () => {
    near = [];
    const html = await get();
    expect(textOf(html)).to.include('Not counted yet').and.not.include('None of these jobs');
    expect(html).to.include('>Retry all that match</button>');
  });

  it('shows that the storage gave up counting', async () => {
    counting.reject(new StorageUnavailableError('too slow'));
    const html = await get();
    expect(textOf(html)).to.include('100+ jobs at the moment').and.include('Counting took too long');
    expect(html).to.include('data-every="5000"');
  });

  it('shows an exact number if it has read all of them', async () => {
    near = near.slice(0, 3);
    expect(textOf(await get()))
      .to.include('3 jobs at the moment')
      .and.not.include('Still counting');
  });
});
