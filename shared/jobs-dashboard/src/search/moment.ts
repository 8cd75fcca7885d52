import { parseTypedTime } from '@longshore/edge';
import { isTime, TimeZone } from '@longshore/jobs/storage';
import { badRequest } from '../http/problem.js';

const DAY_MS = 86_400_000;

const unitsMs: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', DAY_MS],
  ['w', 7 * DAY_MS],
]);

/** Maximum duration in a relative time, in milliseconds. */
const MAX_AGO_MS = 50 * 365 * DAY_MS;

/**
 * Relative times count back from the current time, rounded down to a multiple of this step, in milliseconds. Viewers
 * can then share cached reads.
 */
const STEP_MS = 10_000;

/**
 * Parses a date as in {@link calendarMomentOf}, or a duration before now, such as `90s`, `15min`, `2h` or `7d`. Returns
 * `null` if the text is invalid or the duration is longer than 50 years.
 */
export function momentOf(text: string, nowMs: number, zone = 'UTC'): Date | null {
  const [, amount, unit = ''] = /^(\d{1,10})\s*([a-z]+)$/i.exec(text) ?? [];
  const unitMs = unitsMs.get(unit.toLowerCase());
  if (amount === undefined || unitMs === undefined) return calendarMomentOf(text, zone);
  const agoMs = Number(amount) * unitMs;
  return agoMs > MAX_AGO_MS ? null : new Date(Math.floor(nowMs / STEP_MS) * STEP_MS - agoMs);
}

/**
 * Parses a date such as `2026-03-01`, or a date and time such as `2026-03-01T14:05`. If the clock was set forward and
 * never showed that time, returns when it was; if it showed it twice, the first time. Returns `null` if the text is
 * invalid, or if the year is not between 1970 and 9999.
 *
 * @param zone the time zone of a text without an offset, which {@link zoneIn} has checked
 */
export function calendarMomentOf(text: string, zone = 'UTC'): Date | null {
  const typed = parseTypedTime(text);
  if (typed === undefined) return null;
  const atMs = hasOffset(text) ? typed.getTime() : TimeZone.of(zone).firstReaching(typed.getTime());
  return isTime(atMs) ? new Date(atMs) : null;
}

/** Adds the offset of the time zone to a date or time that has none. Returns any other text unchanged. */
export function withOffset(text: string, zone: string): string {
  const moment = hasOffset(text) ? null : calendarMomentOf(text, zone);
  if (moment === null) return text;
  const offsetMin = TimeZone.of(zone).offsetAt(moment.getTime()) / 60_000;
  // A zone of long ago can be seconds off; its times are exact in UTC only.
  if (!Number.isInteger(offsetMin)) return moment.toISOString();
  const [sign, minutes] = [offsetMin < 0 ? '-' : '+', Math.abs(offsetMin)];
  const digits = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const local = new Date(moment.getTime() + offsetMin * 60_000).toISOString().replace(/(:00)?\.000Z$/, '');
  return `${local}${offsetMin === 0 ? 'Z' : `${sign}${digits(minutes / 60)}:${digits(minutes % 60)}`}`;
}

function hasOffset(text: string): boolean {
  return parseTypedTime(`${text}Z`) === undefined;
}

/** Formats a time as people type it, to the minute: `2026-03-01T14:05`. */
export function typedText(atMs: number, zone: string): string {
  return new Date(atMs + TimeZone.of(zone).offsetAt(atMs)).toISOString().slice(0, 16);
}

/**
 * Returns the time zone of the times in a form or a query, from its field `zone`, which scripts set to the browser's.
 * Defaults to UTC.
 *
 * @throws {Problem} (400) if the time zone is unknown
 */
export function zoneIn(fields: URLSearchParams): string {
  const zone = fields.get('zone') ?? 'UTC';
  try {
    TimeZone.of(zone);
    return zone;
  } catch {
    throw badRequest(
      'Unknown time zone',
      `The dashboard does not know the time zone “${zone}”. Write times with an offset, such as 2026-03-01T14:05Z.`,
    );
  }
}
