import { type Bucket, bars, scaled, STEP, totalOf } from './chart.js';

/**
 * A chart of the size of a word: successful jobs above the axis, failed ones below it, each on its own scale.
 * It uses the units of a chart.
 */
export interface Sparkline {
  readonly width: number;
  /** An SVG path. */
  readonly done: string;
  /** The same for failed jobs; empty if there are none. */
  readonly failed: string;
  readonly total: { readonly done: number; readonly failed: number };
}

/** The position of the axis. The space below it is half as high as the space above. */
const HEIGHT = 20;
const DEPTH = 10;
const MIN = 1;
/** A bucket needs at least this many jobs to be drawn at full height: one job an hour is not a peak. */
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
