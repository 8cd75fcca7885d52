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
export const STEP = 10;
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
export function bars(lengths: readonly number[], axis: number): string {
  return lengths
    .map((length, index) => (length === 0 ? '' : `M${STEP * index} ${axis}h${BAR}v${length}h${-BAR}z`))
    .join('');
}

/**
 * Returns the length of the bar for `jobs` jobs, if the bar for `max` jobs has the length `whole`. Unless `jobs` is
 * zero, the bar is at least `least` long, so that it stays visible.
 */
export function scaled(jobs: number, max: number, whole: number, least: number): number {
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
