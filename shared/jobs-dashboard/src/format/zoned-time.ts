const formats = new Map<string, Intl.DateTimeFormat>();

/** What times of one list are told with, so that no two of them look alike. */
export interface TimeDetail {
  readonly seconds: boolean;
  readonly year: boolean;
}

/** Seconds if any of them has some, the year if it is not that of `now` for all. */
export function detailOf(times: readonly Date[], now: Date): TimeDetail {
  return {
    seconds: times.some((at) => at.getUTCSeconds() !== 0),
    year: times.some((at) => at.getUTCFullYear() !== now.getUTCFullYear()),
  };
}

/** A time as the clocks of a zone show it: `Mon 2 Mar, 02:30`. */
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

/** The name of a zone at a time: `CET`, `CEST`. */
export function zoneNameAt(timeZone: string, at: Date): string {
  return formatted(at, { timeZone, timeZoneName: 'short', hour: 'numeric' }).replace(/^\S+ /, '');
}

/** A day as the calendars of a zone show it: `Monday, 2 March 2026`. */
export function dayIn(timeZone: string, at: Date): string {
  return formatted(at, { timeZone, weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

/** Formats are dear to make. */
function formatted(at: Date, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify(options);
  let format = formats.get(key);
  if (format === undefined) formats.set(key, (format = formatOf(options)));
  return format.format(at);
}

/** In UTC if there is no such zone: what is stored may name one that this system does not know. */
function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', options);
  } catch {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
  }
}
