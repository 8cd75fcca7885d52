/** Matches a time with an offset from UTC (RFC 3339, § 5.6) and at most nine decimals. */
const time =
  /^(?<day>\d{4}-\d{2}-\d{2})[Tt](?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:\.(?<fraction>\d{1,9}))?(?:[Zz]|(?<sign>[-+])(?<offsetHour>\d{2}):(?<offsetMinute>\d{2}))$/;

const maxOffsetMinutes = 14 * 60;

/** An instant: the milliseconds since 1970, and the decimals of the second beyond them. */
interface Instant {
  readonly ms: number;
  /** Nanoseconds within the millisecond. */
  readonly ns: number;
}

/**
 * Parses an RFC 3339 time. Returns undefined if the text is malformed or not on the calendar (30 February), if the year
 * in UTC is not 1 to 9999, or if the offset is more than 14 hours. Leap seconds are not supported.
 */
function instantOf(text: string): Instant | undefined {
  const parts = time.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const startMs = startOfDay(parts['day'] ?? '');
  const number = (name: string): number => Number(parts[name] ?? 0);
  const offset = number('offsetHour') * 60 + number('offsetMinute');
  const isPossible =
    number('hour') <= 23 &&
    number('minute') <= 59 &&
    number('second') <= 59 &&
    number('offsetMinute') <= 59 &&
    offset <= maxOffsetMinutes;
  if (startMs === undefined || !isPossible) return undefined;
  const east = parts['sign'] === '-' ? -1 : 1;
  const minutes = number('hour') * 60 + number('minute') - east * offset;
  const nanoseconds = Number((parts['fraction'] ?? '').padEnd(9, '0'));
  const ms = startMs + minutes * 60_000 + number('second') * 1_000 + Math.floor(nanoseconds / 1_000_000);
  const year = new Date(ms).getUTCFullYear();
  return year >= 1 && year <= 9_999 ? { ms, ns: nanoseconds % 1_000_000 } : undefined;
}

/** Returns the start of a day in UTC, in milliseconds since 1970. Returns undefined if there is no such day. */
function startOfDay(day: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || day.startsWith('0000')) return undefined;
  const start = new Date(`${day}T00:00:00Z`);
  const exists = !Number.isNaN(start.getTime()) && start.toISOString().startsWith(day); // false for 30 February
  return exists ? start.getTime() : undefined;
}

/**
 * Parses an RFC 3339 time such as `2026-01-31T09:00:00+01:00`, with a precision of milliseconds. Returns undefined if the
 * text is not such a time, the day does not exist, the year in UTC is not 1 to 9999, or the offset is over 14 hours.
 */
export function parseTime(text: string): Date | undefined {
  const instant = instantOf(text);
  return instant && new Date(instant.ms);
}

/** Returns whether {@link parseTime} can parse the text. */
export function isTime(text: string): boolean {
  return instantOf(text) !== undefined;
}

/** Returns whether the text is a day in the years 1 to 9999, such as `2026-01-31`. */
export function isDay(text: string): boolean {
  return startOfDay(text) !== undefined;
}

/**
 * Returns the same time in one notation, so that equal times are equal texts: in UTC, with `Z`, and without trailing
 * zeros. Returns undefined if the text is not a time.
 */
export function canonicalTime(text: string): string | undefined {
  const instant = instantOf(text);
  if (instant === undefined) return undefined;
  const nanoseconds = String(instant.ns).padStart(6, '0');
  return new Date(instant.ms)
    .toISOString()
    .replace('Z', `${nanoseconds}Z`)
    .replace(/\.?0+Z$/, 'Z');
}

/**
 * Completes a time from a URL. A day becomes the start of the day in UTC. A space before the offset becomes `+` again;
 * decoding the URL turned it into a space. Returns any other text unchanged.
 */
export function completeTime(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text.replace(/ (?=\d{2}:\d{2}$)/, '+');
}

/**
 * Parses a time as a person types it: a day, which means its start, or a day and a time, separated by `T` or a space.
 * Seconds may be left out. The zone is UTC, unless the text has an offset. Returns undefined for all other texts, and
 * where {@link parseTime} does.
 */
export function parseTypedTime(text: string): Date | undefined {
  const [, day, minute = '00:00', second = ':00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?)?([Zz]|[-+ ]\d{2}:\d{2})?$/.exec(
      text,
    ) ?? [];
  return day === undefined ? undefined : parseTime(`${day}T${minute}${second}${zone.replace(' ', '+')}`);
}

/**
 * Parses an integer in the notation of JSON. Returns undefined for any other text, and for integers that are too large
 * to be represented exactly.
 */
export function parseInteger(text: string): number | undefined {
  return /^(?:0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

/** Parses an integer, or a decimal with up to 17 digits before and after the point. Rejects exponents. */
export function parseNumber(text: string): number | undefined {
  return /^-?(?:0|[1-9]\d{0,16})\.\d{1,17}$/.test(text) ? Number(text) + 0 : parseInteger(text);
}

declare const normalised: unique symbol;

/** A UUID in lower case. {@link parseUuid} is the only way to get one from text. */
export type Uuid = string & { readonly [normalised]: true };

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns a UUID in lower case, whatever its case. Returns undefined if the text is not a UUID. */
export function parseUuid(text: string): Uuid | undefined {
  if (text.length !== 36) return undefined;
  const lower = text.toLowerCase();
  return pattern.test(lower) ? (lower as Uuid) : undefined;
}
