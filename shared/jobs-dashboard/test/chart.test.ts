import { expect } from 'chai';
import { type Bucket, chartOf } from '../src/format/chart.js';

const buckets = (...ended: [done: number, failed: number][]): Bucket[] =>
  ended.map(([done, failed], index) => ({ at: new Date(index * 1_000), done, failed }));

describe('a chart', () => {
  it('is scaled to the busiest bucket, and shows its count', () => {
    const { max, done } = chartOf(buckets([450, 0], [45, 0], [0, 0]), 2);
    expect(max).to.equal(450);
    expect(done).to.equal('M0 100h8v-100h-8zM10 100h8v-10h-8z');
  });

  it('has no bars where no job finished', () => {
    expect(chartOf(buckets([0, 0], [0, 0]), 2)).to.include({ max: 0, done: '' });
  });

  it('has a bar for each complete bucket with finished jobs', () => {
    const chart = chartOf(buckets([6, 0], [0, 0], [10, 0], [1, 0]), 2);
    expect(chart.done).to.equal('M0 100h8v-60h-8zM20 100h8v-100h-8z');
  });

  it('shows failures below the axis, on a separate scale', () => {
    const { max, failed } = chartOf(buckets([5_000, 1], [4_000, 2], [0, 0]), 2);
    expect(max).to.equal(5_000);
    expect(failed).to.deep.equal({ max: 2, bars: 'M0 0h8v15h-8zM10 0h8v30h-8z' });
  });

  it('has no room for failures if there were none', () => {
    expect(chartOf(buckets([5, 0], [0, 0]), 2).failed).to.equal(null);
  });

  it('outlines the bucket that is still filling', () => {
    expect(chartOf(buckets([10, 0], [5, 2]), 2).unfinished).to.deep.equal({ x: 10, y: 50, height: 50 });
  });

  it('outlines no bucket of a period that has ended', () => {
    const { done, unfinished } = chartOf(buckets([10, 0], [5, 2]), 2, false);
    expect(done).to.equal('M0 100h8v-100h-8zM10 100h8v-50h-8z');
    expect(unfinished).to.equal(null);
  });

  it('keeps one job among thousands visible', () => {
    const { done, failed } = chartOf(buckets([5_000, 1_000], [1, 1], [0, 0]), 2);
    expect(done).to.include('M10 100h8v-2h-8z');
    expect(failed?.bars).to.include('M10 0h8v6h-8z');
  });

  it('has ticks at even times, with lines at them', () => {
    const { ticks, grid } = chartOf(buckets([1, 0], [1, 0], [1, 0], [1, 0], [1, 0]), 4);
    expect(ticks.map((at) => at.getTime())).to.deep.equal([0, 1_000, 2_000, 3_000]);
    expect(grid).to.equal('M0 50h50M0 0v100M10 0v100M20 0v100M30 0v100');
  });

  it('divides all of its time into parts if it ends in the past', () => {
    const { ticks, grid } = chartOf(buckets([1, 0], [1, 0], [1, 0], [1, 0]), 2, false);
    expect(ticks.map((at) => at.getTime())).to.deep.equal([0, 2_000]);
    expect(grid).to.equal('M0 50h40M0 0v100M20 0v100');
  });

  it('has a table of at most 24 rows', () => {
    const { rows, total } = chartOf(
      buckets(...Array.from({ length: 97 }, (): [number, number] => [2, 1])),
      2,
    );
    expect(rows).to.have.lengthOf(20);
    expect(rows[0]).to.deep.equal({ at: new Date(0), done: 10, failed: 5 });
    expect(total).to.deep.equal({ done: 194, failed: 97 });
  });
});
