import { DurationHistogram } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { heatMapOf } from '../src/format/heat-map.js';

const columnOf = (index: number, ...ms: number[]) => {
  const durations = new DurationHistogram();
  for (const each of ms) durations.add(each);
  return { x: 100 * index, width: 100, durations };
};
const repeated = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms);

describe('the heat map of run times', () => {
  it('counts each attempt in the cell of its time and its run time', () => {
    const map = heatMapOf([
      columnOf(0, ...repeated(3, 150), 2_000),
      columnOf(1),
      columnOf(2, ...repeated(5, 20_000)),
    ]);
    expect(map?.bounds).to.deep.equal([100, 300, 1_000, 3_000, 10_000, 30_000, 60_000]);
    expect(map?.counts).to.deep.equal([
      [3, 0, 1, 0, 0, 0],
      [0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 5, 0],
    ]);
    expect(map?.max).to.equal(5);
  });

  it('loses no attempt, however short or long', () => {
    for (const ms of [0, 0.5, 1, 2.9, 3.1, 59_999, 86_400_000, 39 * 86_400_000, 400 * 86_400_000])
      expect(
        heatMapOf([columnOf(0, ...repeated(7, ms))])
          ?.counts.flat()
          .reduce((sum, count) => sum + count),
        `${ms} ms`,
      ).to.equal(7);
  });

  it('draws a single attempt among thousands in the lightest shade, and none not at all', () => {
    const map = heatMapOf([columnOf(0, ...repeated(10_000, 150), 2_000)]);
    expect(map?.shades.map(({ opacity, d }) => [opacity, d])).to.deep.equal([
      [0.15, 'M0 25h100v25h-100z'],
      [1, 'M0 75h100v25h-100z'],
    ]);
    expect(heatMapOf([columnOf(0)])).to.equal(null);
  });
});
