const formats = new Map<string, Intl.DateTimeFormat>();

/** A time as the clocks of a zone show it: `Mon 2 Mar, 02:30 CET`. Seconds are left out where there are none. */
export function timeIn(timeZone: string, at: Date): string {
  return formatOf(timeZone, at.getUTCSeconds() !== 0).format(at);
}

/** They are dear to make. */
function formatOf(timeZone: string, withSeconds: boolean): Intl.DateTimeFormat {
  const key = `${timeZone} ${withSeconds}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds ? { second: '2-digit' } : {}),
    timeZoneName: 'short',
  });
  formats.set(key, format);
  return format;
}
