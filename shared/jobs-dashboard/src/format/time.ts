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
  const remainder = Math.floor((span % large) / small);
  const head = `${Math.floor(span / large)} ${largeUnit}`;
  return remainder === 0 ? head : `${head} ${remainder} ${smallUnit}`;
}

/** The texts of a `<time>` element. */
interface TimeText {
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

const formats = new Map<string, Intl.DateTimeFormat>();

/** Which optional parts of a time to show. */
export interface TimeDetail {
  readonly seconds: boolean;
  readonly year: boolean;
}

/**
 * Returns which details the times in a list need. Seconds are needed unless all times are full minutes. The year is
 * needed if a time is in a different UTC year from `now`.
 */
export function detailOf(times: readonly Date[], now: Date): TimeDetail {
  return {
    seconds: times.some((at) => at.getUTCSeconds() !== 0),
    year: times.some((at) => at.getUTCFullYear() !== now.getUTCFullYear()),
  };
}

/** Formats a time in a time zone: `Mon 2 Mar, 02:30`. */
export function timeIn(timeZone: string, at: Date, { seconds, year }: TimeDetail): string {
  return formatted(at, {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(year ? { year: 'numeric' } : {}),
    hour: '2-digit',
    minute: '2-digit',
    ...(seconds ? { second: '2-digit' } : {}),
  });
}

/** Returns the abbreviation of a time zone at the given time, such as `CET` or `CEST`. */
export function zoneNameAt(timeZone: string, at: Date): string {
  return formatted(at, { timeZone, timeZoneName: 'short', hour: 'numeric' }).replace(/^\S+ /, '');
}

/** Formats a day in a time zone: `Monday, 2 March 2026`. */
export function dayIn(timeZone: string, at: Date): string {
  return formatted(at, { timeZone, weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

/** Formats a time. Caches the formatters, because they are expensive to create. */
function formatted(at: Date, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify(options);
  let format = formats.get(key);
  if (format === undefined) formats.set(key, (format = formatOf(options)));
  return format.format(at);
}

/** Creates a formatter. Uses UTC if this system does not know the time zone, which comes from the storage. */
function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', options);
  } catch {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
  }
}
