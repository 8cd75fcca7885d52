/** How many jobs succeeded and how many failed in the period that begins at `at`. */
export interface Bucket {
  readonly at: Date;
  readonly done: number;
  readonly failed: number;
}

/**
 * The shapes of a bar chart. Each bucket is ten units wide. Bars of successful jobs rise up to 100 units above the
 * axis. Bars of failed jobs extend up to 30 units below it, on a separate scale, so that a few failures among thousands
 * stay visible.
 */
export interface Chart {
  readonly width: number;
  /** The largest number of successful jobs in a bucket. The bar of that bucket has the full height. */
  readonly max: number;
  /** The SVG path of the bars of successful jobs in complete buckets. */
  readonly done: string;
  /** The largest number of failed jobs in a bucket, and the SVG path of their bars; `null` if no job failed. */
  readonly failed: { readonly max: number; readonly bars: string } | null;
  /** The bar of successful jobs in the current bucket, to be drawn in outline; `null` if all buckets are complete. */
  readonly unfinished: { readonly x: number; readonly y: number; readonly height: number } | null;
  /** The SVG path of the grid: lines at half height and at the times of `ticks`. */
  readonly grid: string;
  /** Evenly spaced times to show below the axis, from left to right. */
  readonly ticks: readonly Date[];
  readonly total: { readonly done: number; readonly failed: number };
  /** The same data for a table of at most 24 rows. */
  readonly rows: readonly Bucket[];
}

const HEIGHT = 100;
const DEPTH = 30;
const BAR = 8;
/** The distance between the left edges of neighbouring bars. */
const STEP = 10;
const MAX_ROWS = 24;
/** Minimum lengths of bars for successful and failed jobs, so that a single job among thousands stays visible. */
const MIN = 2;
const MIN_FAILED = 6;

/**
 * @param buckets at least one, oldest first and of equal length
 * @param parts the number of equal parts that the ticks divide the chart into
 * @param isCurrent whether the last bucket is the current, incomplete one
 */
export function chartOf(buckets: readonly Bucket[], parts: number, isCurrent = true): Chart {
  const last = buckets.at(-1) ?? { at: new Date(0), done: 0, failed: 0 };
  const first = buckets[0] ?? last;
  const complete = isCurrent ? buckets.slice(0, -1) : buckets;
  const width = STEP * buckets.length;
  const max = Math.max(...buckets.map(({ done }) => done));
  const high = (jobs: number): number => scaled(jobs, max, HEIGHT, MIN);
  const mostFailed = Math.max(...buckets.map(({ failed }) => failed));
  // The time axis ends where the current bucket starts, because that bucket has only begun.
  const steps = Math.max(isCurrent ? buckets.length - 1 : buckets.length, 1);
  const stepMs = (last.at.getTime() - first.at.getTime()) / Math.max(buckets.length - 1, 1);
  const inParts = Array.from({ length: parts }, (_each, index) => (index / parts) * steps);
  return {
    width,
    max,
    done: bars(
      complete.map(({ done }) => -high(done)),
      HEIGHT,
    ),
    failed: mostFailed === 0 ? null : failures(buckets, mostFailed),
    unfinished: isCurrent
      ? { x: STEP * complete.length, y: HEIGHT - high(last.done), height: high(last.done) }
      : null,
    grid: `M0 ${HEIGHT / 2}h${width}${inParts.map((step) => `M${round(step * STEP)} 0v${HEIGHT}`).join('')}`,
    ticks: inParts.map((step) => new Date(first.at.getTime() + step * stepMs)),
    total: totalOf(buckets),
    rows: rowsOf(buckets),
  };
}

function failures(buckets: readonly Bucket[], max: number): { max: number; bars: string } {
  return {
    max,
    bars: bars(
      buckets.map(({ failed }) => scaled(failed, max, DEPTH, MIN_FAILED)),
      0,
    ),
  };
}

/** Returns the SVG path for bars of these lengths. Negative lengths point upwards from the axis. */
function bars(lengths: readonly number[], axis: number): string {
  return lengths
    .map((length, index) => (length === 0 ? '' : `M${STEP * index} ${axis}h${BAR}v${length}h${-BAR}z`))
    .join('');
}

/**
 * Returns the length of the bar for `jobs` jobs, if the bar for `max` jobs has the length `whole`. Unless `jobs` is
 * zero, the bar is at least `least` long, so that it stays visible.
 */
function scaled(jobs: number, max: number, whole: number, least: number): number {
  return jobs === 0 ? 0 : Math.max(least, round((whole * jobs) / max));
}

function rowsOf(buckets: readonly Bucket[]): Bucket[] {
  const size = Math.ceil(buckets.length / MAX_ROWS);
  return Array.from({ length: Math.ceil(buckets.length / size) }, (_each, index) => {
    const part = buckets.slice(index * size, (index + 1) * size);
    return { at: part[0]?.at ?? new Date(0), ...totalOf(part) };
  });
}

export function totalOf(buckets: readonly Bucket[]): { done: number; failed: number } {
  return {
    done: buckets.reduce((total, { done }) => total + done, 0),
    failed: buckets.reduce((total, { failed }) => total + failed, 0),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * Raises each coarse bucket to at least the sum of the fine buckets in its period. Coarse and fine buckets are read at
 * different times, but the chart of the last ten minutes must never show more jobs than the chart of the whole day.
 * Both kinds of buckets are aligned to 1970, so each fine bucket fits into one coarse bucket.
 *
 * @param coarse oldest first, each `bucketMs` long
 * @param bucketMs the length of a coarse bucket, in milliseconds
 * @returns as many buckets as `coarse` has. If fine buckets are newer than the last coarse bucket, adds coarse buckets
 *   for them, and removes the same number of the oldest buckets
 */
export function withFiner(coarse: readonly Bucket[], fine: readonly Bucket[], bucketMs: number): Bucket[] {
  const sums = new Map<number, { done: number; failed: number }>();
  for (const { at, done, failed } of fine) {
    const start = Math.floor(at.getTime() / bucketMs) * bucketMs;
    const sum = sums.get(start) ?? { done: 0, failed: 0 };
    sums.set(start, { done: sum.done + done, failed: sum.failed + failed });
  }
  const newest = coarse.at(-1)?.at.getTime() ?? 0;
  const later = [...sums.keys()].filter((start) => start > newest);
  const buckets = [...coarse, ...later.map((start) => ({ at: new Date(start), done: 0, failed: 0 }))];
  return buckets.slice(later.length).map(({ at, done, failed }) => {
    const sum = sums.get(at.getTime());
    return { at, done: Math.max(done, sum?.done ?? 0), failed: Math.max(failed, sum?.failed ?? 0) };
  });
}

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
const SPARK_HEIGHT = 20;
const SPARK_DEPTH = 10;
const MIN_SPARK = 1;
/**
 * A bar of full height stands for at least this many successful jobs. Otherwise, a single job would look like a peak.
 */
const LEAST_PEAK = 5;
const MIN_FAILED_SPARK = 5;

/** @param buckets oldest first, of equal length */
export function sparklineOf(buckets: readonly Bucket[]): Sparkline {
  const mostDone = Math.max(LEAST_PEAK, ...buckets.map(({ done }) => done));
  const mostFailed = Math.max(...buckets.map(({ failed }) => failed));
  return {
    width: STEP * buckets.length,
    done: bars(
      buckets.map(({ done }) => -scaled(done, mostDone, SPARK_HEIGHT, MIN_SPARK)),
      SPARK_HEIGHT,
    ),
    failed: bars(
      buckets.map(({ failed }) => scaled(failed, mostFailed, SPARK_DEPTH, MIN_FAILED_SPARK)),
      SPARK_HEIGHT,
    ),
    total: totalOf(buckets),
  };
}
