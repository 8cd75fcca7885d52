import { expect } from 'chai';
import { type Bucket, chartOf } from '../src/format/chart.js';

const buckets = (...ended: [done: number, failed: number][]): Bucket[] =>
  ended.map(([done, failed], index) => ({ at: new Date(index * 1_000), done, failed }));

describe('a chart', () => {
  for (const [most, top] of [
    [0, 1],
    [1, 1],
    [3, 3],
    [10, 10],
    [11, 20],
    [450, 500],
    [501, 600],
  ] as const) {
    it(`of at most ${most} jobs is ${top} high`, () => {
      expect(chartOf(buckets([most, 0], [0, 0])).top).to.equal(top);
    });
  }

  it('has a bar for each finished bucket that is not empty, failures at the foot', () => {
    const chart = chartOf(buckets([6, 4], [0, 0], [10, 0], [1, 1]));
    expect(chart.failed).to.equal('M0 100h8v-40h-8z');
    expect(chart.done).to.equal('M0 60h8v-60h-8zM20 100h8v-100h-8z');
  });

  it('outlines the bucket that is still filling', () => {
    expect(chartOf(buckets([10, 0], [3, 2])).unfinished).to.deep.equal({ x: 10, y: 50, height: 50 });
  });

  it('shows one failure among thousands', () => {
    expect(chartOf(buckets([5_000, 1], [0, 0])).failed).to.equal('M0 100h8v-2h-8z');
  });

  it('tells the same in at most 24 rows', () => {
    const { rows, total } = chartOf(buckets(...Array.from({ length: 97 }, (): [number, number] => [2, 1])));
    expect(rows).to.have.lengthOf(20);
    expect(rows[0]).to.deep.equal({ at: new Date(0), done: 10, failed: 5 });
    expect(total).to.deep.equal({ done: 194, failed: 97 });
  });
});
