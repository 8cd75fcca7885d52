import { counted } from './count.js';
import { formatDuration } from './duration.js';
import type { Point } from './line-chart.js';

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
