import { expect } from 'chai';
import { type Bucket, sparklineOf } from '../src/format/chart.js';

const buckets = (...ended: [done: number, failed: number][]): Bucket[] =>
  ended.map(([done, failed], index) => ({ at: new Date(index * 1_000), done, failed }));

describe('a sparkline', () => {
  it('has a bar for each bucket with finished jobs, up to the peak', () => {
    expect(sparklineOf(buckets([6, 0], [0, 0], [10, 0])).done).to.equal('M0 20h8v-12h-8zM20 20h8v-20h-8z');
  });

  it('does not blow a few jobs up to a peak', () => {
    expect(sparklineOf(buckets([1, 0], [0, 0])).done).to.equal('M0 20h8v-4h-8z');
  });

  it('shows failures below the axis, on a separate scale', () => {
    const { failed } = sparklineOf(buckets([5_000, 6], [4_000, 8], [0, 0]));
    expect(failed).to.equal('M0 20h8v7.5h-8zM10 20h8v10h-8z');
  });

  it('keeps one job among thousands visible, and one failure more so', () => {
    const { done, failed } = sparklineOf(buckets([5_000, 1_000], [1, 1]));
    expect(done).to.include('M10 20h8v-1h-8z');
    expect(failed).to.include('M10 20h8v5h-8z');
  });

  it('shows how many jobs finished', () => {
    const { total, width } = sparklineOf(buckets([5, 1], [7, 0], [0, 2]));
    expect([total, width]).to.deep.equal([{ done: 12, failed: 3 }, 30]);
  });

  it('is empty if no job finished', () => {
    expect(sparklineOf(buckets([0, 0], [0, 0]))).to.include({ done: '', failed: '' });
  });
});
