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

/** Longer ago there was no job. */
const MAX_AGO_MS = 50 * 365 * DAY_MS;

/** Times that are told from now stay the same for so long, so that viewers share what they ask for. */
const STEP_MS = 10_000;

const calendar = /^\d{4}-\d\d-\d\d(?<time>[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?(?<zone>Z|[+-]\d\d:\d\d)?$/i;

/**
 * The time that somebody wrote: as {@link calendarMomentOf}, or `90s`, `15min`, `2h`, `7d` before now, up to 50 years. `null` if
 * it is none.
 */
export function momentOf(text: string, nowMs: number): Date | null {
  const [, amount, unit = ''] = /^(\d{1,10})\s*([a-z]+)$/i.exec(text) ?? [];
  const unitMs = unitsMs.get(unit.toLowerCase());
  if (amount === undefined || unitMs === undefined) return calendarMomentOf(text);
  const agoMs = Number(amount) * unitMs;
  return agoMs > MAX_AGO_MS ? null : new Date(Math.floor(nowMs / STEP_MS) * STEP_MS - agoMs);
}

/** `2026-03-01`, `2026-03-01T14:05`, in UTC unless it says otherwise. `null` if it is no time from 1970 to 9999. */
export function calendarMomentOf(text: string): Date | null {
  const groups = calendar.exec(text)?.groups;
  if (groups === undefined) return null;
  const inZone = groups['time'] !== undefined && groups['zone'] === undefined ? `${text}Z` : text;
  const moment = new Date(inZone.replace(' ', 'T').toUpperCase());
  return isTime(moment.getTime()) ? moment : null;
}
