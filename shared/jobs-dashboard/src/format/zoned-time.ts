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
