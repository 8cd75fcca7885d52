import { formatDuration } from './duration.js';

/** The texts of a `<time>` element. */
export interface TimeText {
  readonly iso: string;
  /** Text such as `2026-03-01 14:05:09.123 UTC`. */
  readonly exact: string;
  /** Text such as `12 s ago`, `in 3 min` or `just now`. */
  readonly relative: string;
}

/**
 * Formats a time in UTC. In browsers, a script converts the text to the viewer's time zone and updates the relative
 * time.
 */
export function timeText(at: Date, nowMs: number): TimeText {
  const iso = at.toISOString();
  return { iso, exact: `${iso.replace('T', ' ').slice(0, -1)} UTC`, relative: relativeText(at, nowMs) };
}

function relativeText(at: Date, nowMs: number): string {
  const agoMs = nowMs - at.getTime();
  if (Math.abs(agoMs) < 1_000) return agoMs < 0 ? 'now' : 'just now';
  const distance = roughDuration(Math.abs(agoMs));
  return agoMs > 0 ? `${distance} ago` : `in ${distance}`;
}

/**
 * Formats a duration. Rounds down to whole seconds below a minute and to whole minutes below an hour, so that the text
 * rarely changes.
 */
function roughDuration(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`;
  return ms < 3_600_000 ? `${Math.floor(ms / 60_000)} min` : formatDuration(ms);
}
