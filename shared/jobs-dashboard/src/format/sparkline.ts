import { type Bucket, bars, scaled, STEP, totalOf } from './chart.js';

/**
 * A chart of the size of a word: what is done stands on the axis, what failed hangs below it, each on a scale of its own,
 * up to what was most. Units are those of a chart.
 */
export interface Sparkline {
  readonly width: number;
  /** A path of SVG. */
  readonly done: string;
  /** The same of what failed; empty if nothing did. */
  readonly failed: string;
  readonly total: { readonly done: number; readonly failed: number };
}

/** Where the axis is; below it is room for as much again by half. */
const HEIGHT = 20;
const DEPTH = 10;
const LEAST = 1;
/** Less than this in a bucket is not drawn to the full height: a job an hour is no peak. */
const FEW = 5;
const LEAST_FAILED = 5;

/** @param buckets oldest first, evenly long */
export function sparklineOf(buckets: readonly Bucket[]): Sparkline {
  const mostDone = Math.max(FEW, ...buckets.map(({ done }) => done));
  const mostFailed = Math.max(...buckets.map(({ failed }) => failed));
  return {
    width: STEP * buckets.length,
    done: bars(
      buckets.map(({ done }) => -scaled(done, mostDone, HEIGHT, LEAST)),
      HEIGHT,
    ),
    failed: bars(
      buckets.map(({ failed }) => scaled(failed, mostFailed, DEPTH, LEAST_FAILED)),
      HEIGHT,
    ),
    total: totalOf(buckets),
  };
}
