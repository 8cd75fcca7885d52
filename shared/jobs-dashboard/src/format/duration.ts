const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Formats milliseconds: `350 ms`, `4.2 s`, `3 min 12 s`, `2 h 5 min`, `3 d 4 h`. Negative durations count as 0. Rounds
 * down, so that 59.9 s is not shown as a minute.
 */
export function formatDuration(ms: number): string {
  const span = Math.max(0, ms);
  if (span < SECOND) return `${Math.floor(span)} ms`;
  if (span < 10 * SECOND) return `${(Math.floor(span / 100) / 10).toFixed(1)} s`;
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`;
  if (span < HOUR) return pair(span, MINUTE, 'min', SECOND, 's');
  if (span < DAY) return pair(span, HOUR, 'h', MINUTE, 'min');
  return pair(span, DAY, 'd', HOUR, 'h');
}

function pair(span: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((span % large) / small);
  const head = `${Math.floor(span / large)} ${largeUnit}`;
  return rest === 0 ? head : `${head} ${rest} ${smallUnit}`;
}
