import { StorageUnavailableError } from '@longshore/jobs';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site } from './dashboard-site.js';

describe('the count of the last hour', () => {
  it('is left out while it is being counted, and refreshed soon', async () => {
    const { site, release } = await siteThatCounts();
    try {
      for (const path of ['/', '/queues']) {
        const { text } = await site.http.get(`/job-dashboard${path}`);
        expect(text).to.include('still being counted').and.include('data-region="queues" data-every="500"');
        expect(text).to.include('>images<').and.not.include('role="img"');
      }
      release();
      site.story.storage.manualClock.advance(1_000);
      const { text } = await site.http.get('/job-dashboard/queues');
      expect(text).to.include('role="img"').and.not.include('still being counted');
    } finally {
      await site.close();
    }
  });

  it('is left out, with a note, if the storage gives up counting', async () => {
    const { site } = await siteThatCounts(() =>
      Promise.reject(new StorageUnavailableError('It took too long')),
    );
    try {
      const { status, text } = await site.http.get('/job-dashboard/queues');
      expect(status).to.equal(200);
      expect(text).to.include('so it is left out').and.include('>images<');
      expect(text).not.to.include('data-every="500"');
    } finally {
      await site.close();
    }
  });

  it('is read once for the queues of a page, whatever their order', async () => {
    const { site, release, reads } = await siteThatCounts();
    try {
      release();
      for (const query of ['', '?sort=name', '?sort=failed'])
        await site.http.get(`/job-dashboard/queues${query}`);
      expect(reads()).to.equal(1);
    } finally {
      await site.close();
    }
  });
});

/**
 * Opens a site whose reads of the throughput by queue stay pending until `release` is called. If `given` is set, each
 * read calls it instead and fails with the error that it throws. `reads` returns how many reads have begun.
 */
async function siteThatCounts(
  answer?: () => Promise<never>,
): Promise<{ site: Site; release: () => void; reads: () => number }> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let reads = 0;
  const site = await openSite({
    cacheMs: 1_000,
    read: ({ storage }) =>
      overriding(storage, {
        statistics: {
          throughput: (query) => storage.statistics.throughput(query),
          listErrorGroups: (query) => storage.statistics.listErrorGroups(query),
          throughputByQueue: async (query) => {
            reads += 1;
            await (answer?.() ?? released);
            return storage.statistics.throughputByQueue(query);
          },
        },
      }),
  });
  return { site, release: () => release(), reads: () => reads };
}
