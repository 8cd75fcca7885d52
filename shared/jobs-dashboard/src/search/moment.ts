import { parseTypedTime } from '@longshore/edge';
import { isTime } from '@longshore/jobs/storage';

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
export function momentOf(text: string, nowMs: number): Date | null {
  const [, amount, unit = ''] = /^(\d{1,10})\s*([a-z]+)$/i.exec(text) ?? [];
  const unitMs = unitsMs.get(unit.toLowerCase());
  if (amount === undefined || unitMs === undefined) return calendarMomentOf(text);
  const agoMs = Number(amount) * unitMs;
  return agoMs > MAX_AGO_MS ? null : new Date(Math.floor(nowMs / STEP_MS) * STEP_MS - agoMs);
}

/**
 * Parses a date such as `2026-03-01`, or a date and time such as `2026-03-01T14:05`. The time zone defaults to UTC.
 * Returns `null` if the text is invalid, or if the year is not between 1970 and 9999.
 */
export function calendarMomentOf(text: string): Date | null {
  const moment = parseTypedTime(text);
  return moment !== undefined && isTime(moment.getTime()) ? moment : null;
}
