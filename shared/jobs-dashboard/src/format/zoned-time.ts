const formats = new Map<string, Intl.DateTimeFormat>();

/** A time as the clocks of a zone show it: `Mon 2 Mar, 02:30 CET`. Seconds are left out where there are none. */
export function timeIn(timeZone: string, at: Date): string {
  const seconds = at.getUTCSeconds() === 0 ? {} : ({ second: '2-digit' } as const);
  return formatted(at, {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...seconds,
    timeZoneName: 'short',
  });
}

/** A day as the calendars of a zone show it: `Monday, 2 March 2026`. */
export function dayIn(timeZone: string, at: Date): string {
  return formatted(at, { timeZone, weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

/** Formats are dear to make. */
function formatted(at: Date, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify(options);
  let format = formats.get(key);
  if (format === undefined) formats.set(key, (format = new Intl.DateTimeFormat('en-GB', options)));
  return format.format(at);
}
