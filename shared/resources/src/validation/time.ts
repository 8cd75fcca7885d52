/** Matches a time with an offset from UTC (RFC 3339, § 5.6) and at most nine decimals. */
const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:[Zz]|[-+](\d{2}):(\d{2}))$/;

const maxOffsetMinutes = 14 * 60;

/**
 * Returns whether the text is an RFC 3339 time that the platform supports. The year in UTC must be 1 to 9999, and the
 * offset at most 14 hours. Leap seconds are not supported.
 */
export function isTime(text: string): boolean {
  const [, day, hour, minute, second, offsetHours = 0, offsetMinutes = 0] = dateTime.exec(text) ?? [];
  if (day === undefined || !isDay(day)) return false;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 || Number(offsetMinutes) > 59)
    return false;
  if (Number(offsetHours) * 60 + Number(offsetMinutes) > maxOffsetMinutes) return false;
  const year = new Date(text).getUTCFullYear();
  return year >= 1 && year <= 9_999;
}

/** Returns whether the text is a date in the years 1 to 9999, such as `2026-01-31`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const start = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(start.getTime()) && start.toISOString().startsWith(text); // false for 30 February
}
