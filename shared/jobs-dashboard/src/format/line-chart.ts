/** A measured value and when it was measured. `value` is `null` if nothing was measured. */
export interface Point {
  readonly atMs: number;
  readonly value: number | null;
}

/** The period that a chart shows. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Width and height of a line chart, in the units of its SVG paths. */
export const WIDTH = 1_000;
export const HEIGHT = 100;

/** Returns the x coordinate of a time in a line chart. */
export function placeOf(atMs: number, { fromMs, untilMs }: Span): number {
  return Math.round((WIDTH * (atMs - fromMs)) / (untilMs - fromMs));
}

/**
 * Returns the SVG path of a line through the points, with gaps where values are missing. A single value between two
 * gaps is drawn as a short dash, so that it stays visible.
 *
 * @param max the value at the top edge of the chart
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

/** Returns the largest value of all lines; 0 if they have no values. */
export function maxOf(...lines: readonly (readonly Point[])[]): number {
  return Math.max(0, ...lines.flat().map(({ value }) => value ?? 0));
}

/** Returns whether any line has a measured value. Zero counts as a value. */
export function hasValues(...lines: readonly (readonly Point[])[]): boolean {
  return lines.flat().some(({ value }) => value !== null);
}
