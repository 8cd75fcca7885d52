import { expect } from 'chai';
import fc from 'fast-check';
import { heightOn, scaleOf } from '../src/format/line-chart.js';

const lineOf = (values: readonly (number | null)[]) => values.map((value, atMs) => ({ atMs, value }));
const steady = Array.from({ length: 60 }, (_each, index) => 80 + (index % 40));

describe('the scale of a chart', () => {
  for (const [largest, kind, top, middle] of [
    [0, 'count', 2, 1],
    [3, 'count', 4, 2],
    [59, 'count', 100, 50],
    [3_600, 'count', 4_000, 2_000],
    [149, 'duration', 200, 100],
    [11_000, 'duration', 20_000, 10_000],
    [90_000, 'duration', 120_000, 60_000],
    [5 * 3_600_000, 'duration', 12 * 3_600_000, 6 * 3_600_000],
    [3 * 86_400_000, 'duration', 4 * 86_400_000, 2 * 86_400_000],
  ] as const)
    it(`ends at a round number that is at least ${largest}, as a ${kind}`, () => {
      expect(scaleOf([lineOf([largest, null])], kind)).to.deep.equal({
        top,
        middle,
        bottom: 0,
        isLogarithmic: false,
      });
    });

  it('is logarithmic if a spike would flatten everything else', () => {
    const scale = scaleOf([lineOf([...steady, 27_000])], 'duration');
    expect(scale).to.deep.equal({ top: 100_000, middle: 1_000, bottom: 10, isLogarithmic: true });
    expect(heightOn(scale, 100)).to.be.closeTo(0.25, 1e-9);
  });

  it('is not logarithmic if large values are ordinary', () => {
    const often = steady.map((value, index) => (index % 10 === 0 ? 27_000 : value));
    expect(scaleOf([lineOf(often)], 'duration').isLogarithmic).to.equal(false);
  });

  it('keeps every value within the chart, and larger ones higher', () => {
    const value = fc.oneof(fc.constant(null), fc.nat({ max: 200 }), fc.nat({ max: 10 ** 9 }));
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 90 }),
        fc.constantFrom('count', 'duration'),
        (values, kind) => {
          const scale = scaleOf([lineOf(values)], kind);
          const heights = values
            .flatMap((each) => each ?? [])
            .toSorted((one, other) => one - other)
            .map((each) => heightOn(scale, each));
          expect(heights.every((height) => height >= 0 && height <= 1 + 1e-9)).to.equal(true);
          expect(heights).to.deep.equal(heights.toSorted((one, other) => one - other));
          expect(heightOn(scale, scale.middle)).to.be.closeTo(0.5, 1e-9);
        },
      ),
    );
  });
});
