import { counted } from './count.js';
import { formatDuration } from './time.js';

/** A measured value and when it was measured. `value` is `null` if nothing was measured. */
export interface Point {
  readonly atMs: number;
  readonly value: number | null;
}

/** The period that a chart shows. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Width and height of a line chart, in the units of its SVG paths. */
export const WIDTH = 1_000;
const HEIGHT = 100;

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

/** Period over which the trend is measured, in milliseconds. */
const WINDOW_MS = 5 * 60_000;

/** A backlog that has changed by at most this share within the period counts as steady. */
const STEADY_SHARE = 0.05;

/**
 * Describes how a backlog has changed during about the last five minutes: `Growing by 6/s`, `Drains in 14 min`,
 * `Steady` or `Empty`. Returns `null` if there are fewer than two measurements from that time.
 */
export function backlogTrend(points: readonly Point[], nowMs: number): string | null {
  const recent = points.filter(({ atMs, value }) => value !== null && atMs >= nowMs - WINDOW_MS - 60_000);
  const [first, last] = [recent[0], recent.at(-1)];
  if (first?.value === undefined || last?.value === undefined || first.value === null || last.value === null)
    return null;
  if (first === last) return null;
  const perSecond = (last.value - first.value) / ((last.atMs - first.atMs) / 1_000);
  const change = Math.abs(last.value - first.value);
  if (last.value === 0) return 'Empty';
  if (change <= STEADY_SHARE * Math.max(first.value, last.value)) return 'Steady';
  if (perSecond < 0) return `Drains in ${formatDuration((last.value / -perSecond) * 1_000)}`;
  if (perSecond >= 1) return `Growing by ${perSecond >= 10 ? Math.round(perSecond) : perSecond.toFixed(1)}/s`;
  return `Growing by ${counted(Math.max(1, Math.round(perSecond * 60)), 'job')} per min`;
}
