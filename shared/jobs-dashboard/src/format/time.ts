import { formatDuration } from './duration.js';

/** What a `<time>` element says: for machines, as exact text with its zone, and relative to now. */
export interface TimeText {
  readonly iso: string;
  /** `2026-03-01 14:05:09.123 UTC` */
  readonly exact: string;
  /** `12 s ago`, `in 3 min`, `now` */
  readonly relative: string;
}

/** Zone and relative text are the server's; the script rewrites both for the viewer's own clock and zone. */
export function timeText(at: Date, nowMs: number): TimeText {
  const iso = at.toISOString();
  return { iso, exact: `${iso.replace('T', ' ').slice(0, -1)} UTC`, relative: relativeText(at, nowMs) };
}

function relativeText(at: Date, nowMs: number): string {
  const agoMs = nowMs - at.getTime();
  if (Math.abs(agoMs) < 1_000) return 'now';
  const whole = formatDuration(wholeSeconds(Math.abs(agoMs)));
  return agoMs > 0 ? `${whole} ago` : `in ${whole}`;
}

/** A running text that changes each tenth of a second is noise. */
function wholeSeconds(ms: number): number {
  return ms < 10_000 ? Math.floor(ms / 1_000) * 1_000 : ms;
}
