import { isTime } from '../job/bounds.js';
import { shown } from '../job/shown.js';
import { InvalidScheduleError } from './invalid-schedule.js';

const secondMs = 1_000;

/** The length of each unit, in seconds, in the order in which an interval states them. */
const units = { w: 604_800, d: 86_400, h: 3_600, min: 60, s: 1 } as const;

/** The shortest and the longest interval, in seconds: a second, and 366 days. */
const lengthBounds = { min: 1, max: 366 * units.d };

/** The form of intervals, for JSON Schemas. Whether their units are in order is checked when they are read. */
export const intervalPattern = String.raw`^\d{1,8} ?(w|d|h|min|s)( ?\d{1,8} ?(w|d|h|min|s)){0,4}$`;

const parts = Object.keys(units).map((unit) => String.raw`(?: ?(\d{1,8}) ?${unit})?`);

/** An interval: its units at most once each, the largest first, each with its number. */
const interval = new RegExp(`^(?=\\d)${parts.join('')}$`);

/**
 * The times of an interval, in whole seconds: the anchor, and all times that are a multiple of the interval before or after
 * it. They depend on nothing else, so they do not drift, and are the same on every server and after every restart. An
 * interval is a duration: clocks that are set forward or back make no difference.
 */
export class IntervalTimes {
  readonly #lengthMs: number;
  readonly #anchor: number;

  /** @throws {InvalidScheduleError} if the interval or the anchor is invalid */
  constructor(every: string, anchor: Date) {
    this.#lengthMs = secondsOf(every) * secondMs;
    this.#anchor = checkAnchor(anchor);
  }

  /** Returns the nearest time at or after `time` (`direction` 1), or at or before it (−1). */
  nearest(time: number, direction: 1 | -1): number {
    const count = (time - this.#anchor) / this.#lengthMs;
    return this.#anchor + (direction === 1 ? Math.ceil(count) : Math.floor(count)) * this.#lengthMs;
  }

  /** Returns `false`: clocks make no difference. */
  isMoved(): boolean {
    return false;
  }
}

function secondsOf(every: string): number {
  if (typeof every !== 'string')
    throw new InvalidScheduleError(
      `every must be an interval such as "90 s" or "15 min", not ${shown(every)}`,
    );
  const [, ...numbers] = interval.exec(every) ?? [];
  if (numbers.length === 0)
    throw new InvalidScheduleError(
      `${shown(every)} is not an interval: write numbers with their units w, d, h, min and s, the largest first, such as "90 s", "15 min" or "1 h 30 min"`,
    );
  const seconds = Object.values(units).reduce(
    (sum, unit, index) => sum + Number(numbers[index] ?? 0) * unit,
    0,
  );
  if (seconds < lengthBounds.min || seconds > lengthBounds.max)
    throw new InvalidScheduleError(`An interval is from 1 s to 366 d, not "${every}"`);
  return seconds;
}

function checkAnchor(anchor: Date): number {
  const time = anchor instanceof Date ? anchor.getTime() : Number.NaN;
  if (isTime(time) && time % secondMs === 0) return time;
  throw new InvalidScheduleError(
    `anchor must be a Date from 1970 to 9999 in whole seconds, such as new Date("2026-01-01T06:00:00Z"), not ${shown(anchor)}`,
  );
}
