import { expect } from 'chai';
import { type Bucket, withFiner } from '../src/format/chart.js';
import { openSite, textOf } from './dashboard-site.js';

const bucket = (at: number, done: number, failed = 0): Bucket => ({ at: new Date(at), done, failed });

describe('coarse buckets beside finer ones', () => {
  const coarse = [bucket(0, 5, 1), bucket(100, 7), bucket(200, 1)];

  it('hold at least as much as the finer ones', () => {
    const fine = [bucket(180, 4), bucket(190, 4), bucket(200, 1), bucket(210, 0, 2)];
    expect(withFiner(coarse, fine, 100)).to.deep.equal([bucket(0, 5, 1), bucket(100, 8), bucket(200, 1, 2)]);
  });

  it('keep their larger counts', () => {
    expect(withFiner(coarse, [bucket(190, 1), bucket(200, 0)], 100)).to.deep.equal(coarse);
  });

  it('extend to the end of the finer ones', () => {
    expect(withFiner(coarse, [bucket(290, 1), bucket(300, 3)], 100)).to.deep.equal([
      bucket(100, 7),
      bucket(200, 1),
      bucket(300, 3),
    ]);
  });
});

describe('the charts of the overview', () => {
  it('do not contradict one another, though they are read at different times', async () => {
    const site = await openSite({
      read: ({ storage }) => {
        const { statistics, manualClock } = storage;
        // Simulates three more jobs that finish just after the 24-hour chart has been read.
        statistics.throughput = async ({ sinceMs, bucketMs }) => {
          const newest = Math.floor(manualClock.now() / bucketMs) * bucketMs;
          const earlier = Array.from({ length: sinceMs / bucketMs - 1 }, (_each, index) =>
            bucket(newest - sinceMs + (index + 1) * bucketMs, 0),
          );
          return [...earlier, bucket(newest, bucketMs > 60_000 ? 80 : 83)];
        };
        return storage;
      },
    });
    try {
      const { text } = await site.http.get('/job-dashboard/');
      expect(textOf(text))
        .to.match(/last 10 minutes 83 done/)
        .and.match(/last 24 hours 83 done/);
    } finally {
      await site.close();
    }
  });
});
