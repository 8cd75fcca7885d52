import { type Bucket, bars, scaled, STEP, totalOf } from './chart.js';

/**
 * A chart the size of a word. Successful jobs are drawn above the axis and failed ones below it, on different scales.
 */
export interface Sparkline {
  readonly width: number;
  /** The SVG path of the bars of successful jobs. */
  readonly done: string;
  /** The SVG path of the bars of failed jobs; empty if there are none. */
  readonly failed: string;
  readonly total: { readonly done: number; readonly failed: number };
}

/** Heights of the areas above and below the axis, in SVG units. */
const HEIGHT = 20;
const DEPTH = 10;
const MIN = 1;
/**
 * A bar of full height stands for at least this many successful jobs. Otherwise, a single job would look like a peak.
 */
const FEW = 5;
const MIN_FAILED = 5;

/** @param buckets oldest first, of equal length */
export function sparklineOf(buckets: readonly Bucket[]): Sparkline {
  const mostDone = Math.max(FEW, ...buckets.map(({ done }) => done));
  const mostFailed = Math.max(...buckets.map(({ failed }) => failed));
  return {
    width: STEP * buckets.length,
    done: bars(
      buckets.map(({ done }) => -scaled(done, mostDone, HEIGHT, MIN)),
      HEIGHT,
    ),
    failed: bars(
      buckets.map(({ failed }) => scaled(failed, mostFailed, DEPTH, MIN_FAILED)),
      HEIGHT,
    ),
    total: totalOf(buckets),
  };
}
