import type { DurationHistogram } from '@longshore/jobs/storage';

/** The durations that were measured in one interval of time, and where it is in the chart, in SVG units. */
export interface HeatColumn {
  readonly x: number;
  readonly width: number;
  readonly durations: DurationHistogram;
}

/** How many durations of each length there were over time: a grid whose cells are the darker the more there were. */
export interface HeatMap {
  /** The SVG paths of the cells by shade, lightest first. */
  readonly shades: readonly { readonly opacity: number; readonly d: string }[];
  /** The largest number in a cell. */
  readonly max: number;
  /** The lower bounds of the rows in milliseconds, shortest first, and the upper bound of the last row. */
  readonly bounds: readonly number[];
  /** The numbers of each column by row, shortest durations first. */
  readonly counts: readonly (readonly number[])[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Round bounds of rows, each about three times the one before, in milliseconds. */
const bounds = [
  0,
  1,
  3,
  10,
  30,
  100,
  300,
  ...[1, 3, 10, 30].map((seconds) => seconds * SECOND),
  ...[1, 3, 10, 30].map((minutes) => minutes * MINUTE),
  ...[1, 3, 8].map((hours) => hours * HOUR),
  ...[1, 3, 10, 40].map((days) => days * DAY),
];
/** Minimum number of rows. Even, as is every other number of rows, so that a bound is in the middle. */
const MIN_ROWS = 4;
const HEIGHT = 100;
/** The opacities of the shades. */
const OPACITIES = [0.15, 0.35, 0.55, 0.75, 1] as const;

/** Returns the heat map of durations over time; `null` if there are none. */
export function heatMapOf(columns: readonly HeatColumn[]): HeatMap | null {
  const all = columns.map(({ durations }) => countsOf(durations));
  const sums = bounds.slice(1).map((_bound, row) => all.reduce((sum, counts) => sum + (counts[row] ?? 0), 0));
  const lowest = sums.findIndex((sum) => sum > 0);
  if (lowest === -1) return null;
  const used = sums.findLastIndex((sum) => sum > 0) + 1 - lowest;
  const rows = Math.max(MIN_ROWS, used + (used % 2));
  const first = Math.max(0, Math.min(lowest, sums.length - rows));
  const counts = all.map((column) => column.slice(first, first + rows));
  const max = Math.max(...counts.flat());
  return {
    shades: shadesOf(columns, counts, max),
    max,
    bounds: bounds.slice(first, first + rows + 1),
    counts,
  };
}

function countsOf(durations: DurationHistogram): number[] {
  const below = bounds.slice(0, -1).map((bound) => durations.atMost(bound));
  below.push(durations.total); // the last row has no upper bound
  return below.slice(1).map((count, row) => count - (below[row] ?? 0));
}

function shadesOf(
  columns: readonly HeatColumn[],
  counts: readonly (readonly number[])[],
  max: number,
): HeatMap['shades'] {
  const paths = OPACITIES.map(() => '');
  for (const [index, { x, width }] of columns.entries()) {
    const column = counts[index] ?? [];
    const height = HEIGHT / column.length;
    for (const [row, count] of column.entries()) {
      if (count === 0) continue;
      const y = Math.round(10 * (HEIGHT - (row + 1) * height)) / 10;
      paths[shadeOf(count, max)] += `M${x} ${y}h${width}v${Math.round(10 * height) / 10}h${-width}z`;
    }
  }
  return OPACITIES.map((opacity, shade) => ({ opacity, d: paths[shade] ?? '' })).filter(({ d }) => d !== '');
}

/** Returns the shade of a number, on a log scale, so that a single job among thousands stays visible. */
function shadeOf(count: number, max: number): number {
  const share = max === 1 ? 1 : Math.log(count) / Math.log(max);
  return Math.min(OPACITIES.length - 1, Math.floor(share * OPACITIES.length));
}
