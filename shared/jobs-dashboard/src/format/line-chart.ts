/** A measured value and when it was measured. `value` is `null` if nothing was measured. */
export interface Point {
  readonly atMs: number;
  readonly value: number | null;
}

/** The vertical scale of a line chart. */
export interface Scale {
  /** The values at the top edge, half way up, and at the bottom edge of the chart. */
  readonly top: number;
  readonly middle: number;
  readonly bottom: number;
  readonly isLogarithmic: boolean;
}

/** Round numbers whose halves are round, too, as multiples of powers of ten. */
const ROUND = [2, 4, 10] as const;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Round durations from a minute on whose halves are round, too, in milliseconds. */
const roundDurations = [
  ...[1, 2, 4, 10, 20, 60].map((minutes) => minutes * MINUTE),
  ...[2, 4, 12, 24].map((hours) => hours * HOUR),
];

/**
 * A scale is logarithmic if its largest value is at least this many times as large as all but a twentieth of the values:
 * otherwise, a spike would flatten everything else.
 */
const SPIKE = 10;
const ORDINARY = 0.95;
/** Minimum number of values to tell what is ordinary. */
const ENOUGH = 20;

/**
 * Returns the scale for lines of counts or of durations in milliseconds. The largest value is at most at its top, and all
 * values of a chart that are not zero are at least at its bottom.
 */
export function scaleOf(lines: readonly (readonly Point[])[], kind: 'count' | 'duration'): Scale {
  const values = lines.flat().flatMap(({ value }) => value ?? []);
  const largest = Math.max(0, ...values);
  const positive = values.filter((value) => value >= 1).toSorted((one, other) => one - other);
  const ordinary = positive[Math.floor(ORDINARY * positive.length)] ?? 0;
  if (positive.length >= ENOUGH && largest >= SPIKE * ordinary) return logarithmic(positive[0] ?? 1, largest);
  const top = kind === 'duration' && largest > 40 * SECOND ? roundDuration(largest) : roundUp(largest);
  return { top, middle: top / 2, bottom: 0, isLogarithmic: false };
}

/** Returns how far up a value is in a chart, from 0 to 1. */
export function heightOn({ top, bottom, isLogarithmic }: Scale, value: number): number {
  if (!isLogarithmic) return value / top;
  return value <= bottom ? 0 : Math.log(value / bottom) / Math.log(top / bottom);
}

/** Returns a scale over an even number of powers of ten, so that its middle is a power of ten, too. */
function logarithmic(smallest: number, largest: number): Scale {
  const first = Math.floor(Math.log10(smallest));
  const last = Math.ceil(Math.log10(largest));
  const decades = last - first + ((last - first) % 2);
  const bottom = 10 ** first;
  return { top: bottom * 10 ** decades, middle: bottom * 10 ** (decades / 2), bottom, isLogarithmic: true };
}

function roundUp(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return (ROUND.find((factor) => factor * power >= value) ?? 10) * power;
}

function roundDuration(ms: number): number {
  return roundDurations.find((duration) => duration >= ms) ?? DAY * roundUp(ms / DAY);
}

interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Width and height of a line chart, in the units of its SVG paths. */
export const WIDTH = 1_000;
const HEIGHT = 100;

/** Returns the x coordinate of a time in a line chart. */
export function xOf(atMs: number, { fromMs, untilMs }: Span): number {
  return Math.round((WIDTH * (atMs - fromMs)) / (untilMs - fromMs));
}

/**
 * Returns the SVG path of a line through the points, with gaps where values are missing. A single value between two
 * gaps is drawn as a short dash, so that it stays visible.
 *
 * @param scale the vertical scale of the chart
 */
export function linePath(points: readonly Point[], span: Span, scale: Scale): string {
  let path = '';
  let isAlone = false;
  let joins = false;
  for (const { atMs, value } of points) {
    if (value === null) {
      if (isAlone) path += 'h4';
      joins = false;
      isAlone = false;
      continue;
    }
    const y = Math.round(10 * HEIGHT * (1 - heightOn(scale, value))) / 10;
    path += `${joins ? 'L' : 'M'}${xOf(atMs, span)} ${y}`;
    isAlone = !joins;
    joins = true;
  }
  return isAlone ? `${path}h4` : path;
}

/** Returns the largest value of all lines; 0 if they have no values. */
export function maxOf(...lines: readonly (readonly Point[])[]): number {
  return Math.max(0, ...lines.flat().map(({ value }) => value ?? 0));
}

/** Returns whether any line has a measured value. Zero counts as a value. */
export function hasValues(...lines: readonly (readonly Point[])[]): boolean {
  return lines.flat().some(({ value }) => value !== null);
}
