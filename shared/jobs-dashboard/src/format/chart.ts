/** What ended in a span of time. */
export interface Bucket {
  readonly at: Date;
  readonly done: number;
  readonly failed: number;
}

/**
 * A bar chart, ready to be drawn: ten units wide for each bucket. What is done stands on the axis, a hundred units high; what
 * failed hangs below it, thirty units, on a scale of its own: three failures among thousands are what one looks for.
 */
export interface Chart {
  readonly width: number;
  /** The most that were done in one bucket: the full height. */
  readonly most: number;
  /** A path of SVG: all bars. */
  readonly done: string;
  /** The same of what failed; `null` if nothing did. */
  readonly failed: { readonly most: number; readonly bars: string } | null;
  /** The bucket that is still filling; it is drawn in outline. */
  readonly unfinished: { readonly x: number; readonly y: number; readonly height: number };
  /** A path of SVG: lines at half of the height and at the times of `ticks`. */
  readonly grid: string;
  /** Evenly spaced times below the axis, from the left; the right end is now. */
  readonly ticks: readonly Date[];
  readonly total: { readonly done: number; readonly failed: number };
  /** The same as a table of a few rows. */
  readonly rows: readonly Bucket[];
}

const HEIGHT = 100;
const DEPTH = 30;
const BAR = 8;
/** From one bar to the next. */
export const STEP = 10;
const MAX_ROWS = 24;
/** A single job among thousands is to be seen. */
const LEAST = 2;
const LEAST_FAILED = 6;

/**
 * @param buckets oldest first, evenly long; the last one is still filling. At least one.
 * @param parts into how many the ticks divide it
 */
export function chartOf(buckets: readonly Bucket[], parts: number): Chart {
  const last = buckets.at(-1) ?? { at: new Date(0), done: 0, failed: 0 };
  const first = buckets[0] ?? last;
  const finished = buckets.slice(0, -1);
  const width = STEP * buckets.length;
  const most = Math.max(...buckets.map(({ done }) => done));
  const high = (jobs: number): number => scaled(jobs, most, HEIGHT, LEAST);
  const mostFailed = Math.max(...buckets.map(({ failed }) => failed));
  const inParts = Array.from({ length: parts }, (_each, index) => index / parts);
  return {
    width,
    most,
    done: bars(
      finished.map(({ done }) => -high(done)),
      HEIGHT,
    ),
    failed: mostFailed === 0 ? null : failures(buckets, mostFailed),
    unfinished: { x: STEP * finished.length, y: HEIGHT - high(last.done), height: high(last.done) },
    grid: `M0 ${HEIGHT / 2}h${width}${inParts.map((part) => `M${round(part * width)} 0v${HEIGHT}`).join('')}`,
    ticks: inParts.map(
      (part) => new Date(first.at.getTime() + part * (last.at.getTime() - first.at.getTime())),
    ),
    total: totalOf(buckets),
    rows: rowsOf(buckets),
  };
}

function failures(buckets: readonly Bucket[], most: number): { most: number; bars: string } {
  return {
    most,
    bars: bars(
      buckets.map(({ failed }) => scaled(failed, most, DEPTH, LEAST_FAILED)),
      0,
    ),
  };
}

/** A path of SVG. @param lengths upwards where they are negative */
export function bars(lengths: readonly number[], axis: number): string {
  return lengths
    .map((length, index) => (length === 0 ? '' : `M${STEP * index} ${axis}h${BAR}v${length}h${-BAR}z`))
    .join('');
}

/** How long the bar of so many jobs is, where `most` are as long as the whole: what is there is to be seen. */
export function scaled(jobs: number, most: number, whole: number, least: number): number {
  return jobs === 0 ? 0 : Math.max(least, round((whole * jobs) / most));
}

function rowsOf(buckets: readonly Bucket[]): Bucket[] {
  const size = Math.ceil(buckets.length / MAX_ROWS);
  return Array.from({ length: Math.ceil(buckets.length / size) }, (_each, index) => {
    const part = buckets.slice(index * size, (index + 1) * size);
    return { at: part[0]?.at ?? new Date(0), ...totalOf(part) };
  });
}

/** What ended in all of them. */
export function totalOf(buckets: readonly Bucket[]): { done: number; failed: number } {
  return {
    done: buckets.reduce((total, { done }) => total + done, 0),
    failed: buckets.reduce((total, { failed }) => total + failed, 0),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
