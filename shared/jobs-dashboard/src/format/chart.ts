/** What ended in a span of time. */
export interface Bucket {
  readonly at: Date;
  readonly done: number;
  readonly failed: number;
}

/** A bar chart, ready to be drawn: ten units wide for each bucket, a hundred high. */
export interface Chart {
  readonly width: number;
  /** What the full height stands for: 1, 2, 3, 4, 5, 6 or 8 times a power of ten. */
  readonly top: number;
  /** Paths of SVG: all bars of one kind. */
  readonly done: string;
  readonly failed: string;
  /** The bucket that is still filling; it is drawn in outline. */
  readonly unfinished: { readonly x: number; readonly y: number; readonly height: number };
  readonly from: Date;
  readonly until: Date;
  readonly total: { readonly done: number; readonly failed: number };
  /** The same as a table of a few rows. */
  readonly rows: readonly Bucket[];
}

const HEIGHT = 100;
const BAR = 8;
const STEP = 10;
const MAX_ROWS = 24;
/** A single failure among thousands is to be seen. */
const LEAST = 2;

/** @param buckets oldest first, evenly long; the last one is still filling. At least one. */
export function chartOf(buckets: readonly Bucket[]): Chart {
  const last = buckets.at(-1) ?? { at: new Date(0), done: 0, failed: 0 };
  const finished = buckets.slice(0, -1);
  const top = roundTop(Math.max(...buckets.map(({ done, failed }) => done + failed)));
  const high = (jobs: number): number => (jobs === 0 ? 0 : Math.max(LEAST, round((HEIGHT * jobs) / top)));
  const filling = high(last.done + last.failed);
  return {
    width: STEP * buckets.length,
    top,
    done: bars(finished.map(({ done, failed }) => ({ from: high(failed), height: high(done) }))),
    failed: bars(finished.map(({ failed }) => ({ from: 0, height: high(failed) }))),
    unfinished: { x: STEP * finished.length, y: HEIGHT - filling, height: filling },
    from: buckets[0]?.at ?? last.at,
    until: last.at,
    total: totalOf(buckets),
    rows: rowsOf(buckets),
  };
}

/** Failures stand at the foot, where the eye compares their heights. */
function bars(list: readonly { from: number; height: number }[]): string {
  return list
    .map(({ from, height }, index) =>
      height === 0 ? '' : `M${STEP * index} ${round(HEIGHT - from)}h${BAR}v${-height}h${-BAR}z`,
    )
    .join('');
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

function roundTop(most: number): number {
  if (most <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 3, 4, 5, 6, 8].find((step) => step * power >= most) ?? 10) * power;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
