const formats = new Map<string, Intl.DateTimeFormat>();

/** The details that the times of a list need to be distinguishable. */
export interface TimeDetail {
  readonly seconds: boolean;
  readonly year: boolean;
}

/** Includes seconds if any time has some, and the year unless it is the current one for all of them. */
export function detailOf(times: readonly Date[], now: Date): TimeDetail {
  return {
    seconds: times.some((at) => at.getUTCSeconds() !== 0),
    year: times.some((at) => at.getUTCFullYear() !== now.getUTCFullYear()),
  };
}

/** Formats a time in a zone: `Mon 2 Mar, 02:30`. */
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

/** Returns the abbreviation of a zone at a time: `CET`, `CEST`. */
export function zoneNameAt(timeZone: string, at: Date): string {
  return formatted(at, { timeZone, timeZoneName: 'short', hour: 'numeric' }).replace(/^\S+ /, '');
}

/** Formats a day in a zone: `Monday, 2 March 2026`. */
export function dayIn(timeZone: string, at: Date): string {
  return formatted(at, { timeZone, weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

/** Formats are expensive to create. */
function formatted(at: Date, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify(options);
  let format = formats.get(key);
  if (format === undefined) formats.set(key, (format = formatOf(options)));
  return format.format(at);
}

/** Falls back to UTC: the storage may have zones that this system does not know. */
function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', options);
  } catch {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
  }
}
