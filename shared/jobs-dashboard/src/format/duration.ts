const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span of milliseconds for people: `350 ms`, `4.2 s`, `3 min 12 s`, `2 h 5 min`, `3 d 4 h`. Negative spans count as none. */
export function formatDuration(ms: number): string {
  const span = Math.max(0, ms);
  if (span < 999.5) return `${Math.round(span)} ms`;
  if (span < 9_950) return `${(span / SECOND).toFixed(1)} s`;
  if (span < 59_500) return `${Math.round(span / SECOND)} s`;
  const seconds = Math.round(span / SECOND) * SECOND;
  if (seconds < HOUR) return pair(seconds, MINUTE, 'min', SECOND, 's');
  const minutes = Math.round(span / MINUTE) * MINUTE;
  if (minutes < DAY) return pair(minutes, HOUR, 'h', MINUTE, 'min');
  return pair(Math.round(span / HOUR) * HOUR, DAY, 'd', HOUR, 'h');
}

function pair(span: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((span % large) / small);
  const head = `${Math.floor(span / large)} ${largeUnit}`;
  return rest === 0 ? head : `${head} ${rest} ${smallUnit}`;
}
