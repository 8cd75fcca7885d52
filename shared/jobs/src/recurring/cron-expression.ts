import type { WallTime } from './time-zone.js';

/** A field of a cron expression, and the numbers that it accepts. */
interface Field {
  /** The name in error messages. */
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Names that stand for numbers, in lower case; the first stands for `least`. */
  readonly names?: readonly string[];
}

const fields = {
  second: { name: 'second', least: 0, most: 59 },
  minute: { name: 'minute', least: 0, most: 59 },
  hour: { name: 'hour', least: 0, most: 23 },
  day: { name: 'day of the month', least: 1, most: 31 },
  month: {
    name: 'month',
    least: 1,
    most: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  weekday: {
    name: 'day of the week',
    least: 0,
    most: 7,
    names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
  },
} as const satisfies Record<string, Field>;

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const dayMs = 86_400_000;

/** No expression that matches a day matches none for this many months: a fifth Monday in February may take 40 years. */
const maxMonths = 50 * 12;

/** Returns whether a day of a month matches; `weekday` is 0 for Sunday, `last` is the number of days in the month. */
type DayRule = (day: number, weekday: number, last: number) => boolean;

/** Thrown if a text is not a cron expression. The message names the field and what it accepts. */
export class CronSyntaxError extends Error {}

/** The times that a cron expression matches on a clock that is never set forward or back. */
export class CronExpression {
  /** Whether no `*` and no step selects several seconds, minutes or hours. */
  readonly isFixed: boolean;
  readonly #seconds: readonly number[];
  readonly #minutes: readonly number[];
  readonly #hours: readonly number[];
  readonly #months: ReadonlySet<number>;
  readonly #matchesDay: DayRule;
  /** The matching days of a month, by its length and the weekday that it starts with: at most 28 lists. */
  readonly #days = new Map<number, readonly number[]>();

  /** @throws {CronSyntaxError} if the text is not a cron expression */
  constructor(text: string) {
    const parts = partsOf(text);
    const [second = '', minute = '', hour = '', day = '', month = '', weekday = ''] = parts;
    this.isFixed =
      !repeats(fields.second, second) && !repeats(fields.minute, minute) && !repeats(fields.hour, hour);
    this.#seconds = numbersOf(fields.second, second);
    this.#minutes = numbersOf(fields.minute, minute);
    this.#hours = numbersOf(fields.hour, hour);
    this.#months = new Set(numbersOf(fields.month, month));
    const days = rulesOf(day, dayRule);
    const weekdays = rulesOf(weekday, weekdayRule);
    this.#matchesDay =
      day === '*' || weekday === '*'
        ? (...date) => days(...date) && weekdays(...date)
        : (...date) => days(...date) || weekdays(...date);
  }

  /**
   * Returns the nearest matching time at or after `time` (`direction` 1), or at or before it (−1); `undefined` if there is
   * none.
   *
   * @param time a whole second
   */
  nearest(time: WallTime, direction: 1 | -1): WallTime | undefined {
    const start = new Date(time);
    const [year, month, today] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
    if (this.#daysOf(year, month).includes(today)) {
      const sameDay = this.#timeOfDay(start, direction);
      if (sameDay !== undefined) return Math.floor(time / dayMs) * dayMs + sameDay;
    }
    const edge = this.#timeOfDay(new Date(direction === 1 ? 0 : dayMs - 1_000), direction) ?? 0;
    let bound = today + direction;
    for (let months = 0; months <= maxMonths; months++) {
      const current = new Date(Date.UTC(year, month + direction * months));
      const days = this.#daysOf(current.getUTCFullYear(), current.getUTCMonth());
      const day = nearestIn(days, bound, direction);
      if (day !== undefined) return current.getTime() + (day - 1) * dayMs + edge;
      bound = direction === 1 ? 1 : 31;
    }
    return undefined;
  }

  /** Returns the matching days of a month, in ascending order. */
  #daysOf(year: number, month: number): readonly number[] {
    if (!this.#months.has(month + 1)) return [];
    const weekday = new Date(Date.UTC(year, month)).getUTCDay();
    const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const key = last * 7 + weekday;
    const cachedDays = this.#days.get(key);
    if (cachedDays !== undefined) return cachedDays;
    const days = Array.from({ length: last }, (_, index) => index + 1);
    const matching = days.filter((day) => this.#matchesDay(day, (weekday + day - 1) % 7, last));
    this.#days.set(key, matching);
    return matching;
  }

  /** Returns the nearest matching time of the day, in milliseconds since midnight; `undefined` if there is none. */
  #timeOfDay(from: Date, direction: 1 | -1): number | undefined {
    const first = (list: readonly number[]): number => (direction === 1 ? list[0] : list.at(-1)) ?? 0;
    const toMs = (hour: number, minute: number, second: number): number =>
      ((hour * 60 + minute) * 60 + second) * 1_000;
    const hour = from.getUTCHours();
    const minute = from.getUTCMinutes();
    if (this.#hours.includes(hour)) {
      if (this.#minutes.includes(minute)) {
        const second = nearestIn(this.#seconds, from.getUTCSeconds(), direction);
        if (second !== undefined) return toMs(hour, minute, second);
      }
      const otherMinute = nearestIn(this.#minutes, minute + direction, direction);
      if (otherMinute !== undefined) return toMs(hour, otherMinute, first(this.#seconds));
    }
    const otherHour = nearestIn(this.#hours, hour + direction, direction);
    return otherHour === undefined ? undefined : toMs(otherHour, first(this.#minutes), first(this.#seconds));
  }
}

function nearestIn(list: readonly number[], bound: number, direction: 1 | -1): number | undefined {
  return direction === 1 ? list.find((value) => value >= bound) : list.findLast((value) => value <= bound);
}

/** Returns whether an item of a field's list has a `*` or a step that selects more than one number. */
function repeats(field: Field, part: string): boolean {
  return part.split(',').some((item) => /[*/]/.test(item) && rangeOf(field, item).length > 1);
}

/** Returns the six fields of an expression, the seconds first. */
function partsOf(text: string): string[] {
  const trimmed = text.trim();
  const named = trimmed.startsWith('@') ? nicknames[trimmed.toLowerCase()] : trimmed;
  if (named === undefined)
    throw new CronSyntaxError(`the nicknames are ${Object.keys(nicknames).join(', ')}`);
  const parts = named.split(/\s+/).map((part) => (part === '?' ? '*' : part.toLowerCase()));
  if (parts.length === 5) parts.unshift('0');
  return parts;
}

/** Returns the numbers that a field selects, in ascending order. */
function numbersOf(field: Field, part: string): number[] {
  return [...new Set(part.split(',').flatMap((item) => rangeOf(field, item)))].toSorted(
    (one, other) => one - other,
  );
}

/** Returns the numbers that an item of a field's list selects: `*`, a number, a range, or one of them with a step. */
function rangeOf(field: Field, item: string): number[] {
  const [, from, to, step] = /^(\*|[a-z\d]+)(?:-([a-z\d]+))?(?:\/(\d+))?$/.exec(item) ?? [];
  if (from === undefined || (from === '*' && to !== undefined)) throw wrong(field, item);
  if (step !== undefined && from !== '*' && to === undefined)
    throw new CronSyntaxError(
      `${field.name}: a step follows * or a range, such as "*/${step}", not "${item}"`,
    );
  const last = field === fields.weekday ? 6 : field.most; // 7 is another number for Sunday
  const least = from === '*' ? field.least : numberOf(field, from, item);
  const most =
    from === '*'
      ? field.most - Number(field.most === 7)
      : to === undefined
        ? least
        : numberOf(field, to, item);
  // In a range, Sunday may also come last: fri-sun.
  const end = field === fields.weekday && to === 'sun' ? 7 : most;
  if (least > end) throw new CronSyntaxError(`${field.name}: ${from} is after ${to} in "${item}"`);
  const every = step === undefined ? 1 : Number(step);
  const size = last - field.least + 1;
  if (every < 1 || every > size)
    throw new CronSyntaxError(`${field.name}: a step is from 1 to ${size}, not ${step}`);
  return Array.from({ length: Math.floor((end - least) / every) + 1 }, (_, index) => least + index * every);
}

function numberOf(field: Field, text: string, item: string): number {
  const index = field.names?.indexOf(text) ?? -1;
  if (index >= 0) return field.least + index;
  if (!/^\d+$/.test(text)) throw wrong(field, item);
  const value = Number(text);
  if (value < field.least || value > field.most)
    throw new CronSyntaxError(`${field.name}: ${text} is not from ${field.least} to ${field.most}`);
  return value;
}

function wrong({ name, least, most, names }: Field, item: string): CronSyntaxError {
  const words = names === undefined ? '' : ` (or ${names[0]} to ${names.at(-1)})`;
  const got = item === '' ? 'an item of the list is empty' : `"${item}" is not valid`;
  return new CronSyntaxError(
    `${name}: ${got}; use numbers from ${least} to ${most}${words}, *, ranges, lists and steps`,
  );
}

function rulesOf(part: string, ruleOf: (item: string) => DayRule): DayRule {
  const rules = [...new Set(part.split(','))].map(ruleOf);
  return (...date) => rules.some((matches) => matches(...date));
}

/** Parses an item of the day of the month: also `l` (the last day), `lw` (the last weekday) and `15w` (the nearest one). */
function dayRule(item: string): DayRule {
  if (item === 'l') return (day, _, last) => day === last;
  if (item === 'lw') return (day, weekday, last) => day === nearestWeekday(last, weekday + last - day, last);
  const [, near] = /^(\d+)w$/.exec(item) ?? [];
  if (near !== undefined) {
    const wanted = numberOf(fields.day, near, item);
    return (day, weekday, last) =>
      wanted <= last && day === nearestWeekday(wanted, weekday + wanted - day, last);
  }
  const days = new Set(rangeOf(fields.day, item));
  return (day) => days.has(day);
}

/**
 * Returns the working day nearest to a day of a month, within the month.
 *
 * @param weekday of that day, plus or minus whole weeks
 */
function nearestWeekday(day: number, weekday: number, last: number): number {
  const ofWeek = ((weekday % 7) + 7) % 7;
  if (ofWeek === 6) return day === 1 ? 3 : day - 1;
  if (ofWeek === 0) return day === last ? day - 2 : day + 1;
  return day;
}

/** Parses an item of the day of the week: also `5#2` (the second Friday of the month) and `5l` (the last one). */
function weekdayRule(item: string): DayRule {
  const [, base = item, nth, isLast] = /^(.+?)(?:#([1-5l])|(l))$/.exec(item) ?? [];
  const days = new Set(rangeOf(fields.weekday, base).map((day) => day % 7));
  if (nth === 'l' || isLast !== undefined) return (day, weekday, last) => days.has(weekday) && day > last - 7;
  if (nth !== undefined) return (day, weekday) => days.has(weekday) && Math.ceil(day / 7) === Number(nth);
  return (_, weekday) => days.has(weekday);
}
