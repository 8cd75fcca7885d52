/** A value measured at a point in time; `null` if nothing was measured. */
export interface Point {
  readonly atMs: number;
  readonly value: number | null;
}

/** The span of time that a chart shows. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The width and height of a line chart, in the units of its paths. */
export const WIDTH = 1_000;
export const HEIGHT = 100;

/** Returns the horizontal position of a time in a chart. */
export function placeOf(atMs: number, { fromMs, untilMs }: Span): number {
  return Math.round((WIDTH * (atMs - fromMs)) / (untilMs - fromMs));
}

/**
 * Returns the SVG path of a line through the points, with gaps for missing values. A value without neighbours is drawn
 * as a short dash, so that it stays visible.
 *
 * @param max the value at the top of the chart
 */
export function linePath(points: readonly Point[], span: Span, max: number): string {
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
    const y = max === 0 ? HEIGHT : Math.round(10 * HEIGHT * (1 - value / max)) / 10;
    path += `${joins ? 'L' : 'M'}${placeOf(atMs, span)} ${y}`;
    isAlone = !joins;
    joins = true;
  }
  return isAlone ? `${path}h4` : path;
}

/** Returns the largest value; 0 if there are none. */
export function maxOf(...lines: readonly (readonly Point[])[]): number {
  return Math.max(0, ...lines.flat().map(({ value }) => value ?? 0));
}

/** Returns whether there is any measured value, even if it is 0. */
export function hasValues(...lines: readonly (readonly Point[])[]): boolean {
  return lines.flat().some(({ value }) => value !== null);
}
