import { isTime, type JobError, nearest, type Progress, timeBounds } from '@longshore/jobs';
import pg from 'pg';

/** A time that no job can have but a row has, as the nearest one that a job can: so every reader can show it. */
export class UnreadableTime extends Date {}

const timestamptz: number = pg.types.builtins.TIMESTAMPTZ;

/** How values come out of the store's own connections: as ever, except that each time is one from 1970 to 9999. */
export const storedTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') => {
    const parse = pg.types.getTypeParser(oid, format) as (text: string) => unknown;
    return oid === timestamptz ? (text: string) => bounded(utcTime(text) ?? parse(text)) : parse;
  }) as pg.CustomTypesConfig['getTypeParser'],
};

const utcPattern = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/u;

/** Reads what Postgres writes for nearly every time, in 0.3 µs instead of the 0.7 µs of pg's parser; `undefined` for the rest. */
function utcTime(text: string): Date | undefined {
  return utcPattern.test(text) ? new Date(`${text.slice(0, 10)}T${text.slice(11)}:00`) : undefined;
}

/** The same for a row that came over a connection of the caller's: no column of the store holds a number that is infinite. */
export function storedRow<Row extends object>(row: Row): Row {
  const isTimeOf = (value: unknown): boolean =>
    value instanceof Date || value === Infinity || value === -Infinity;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isTimeOf(value) ? bounded(value) : value]),
  ) as Row;
}

/** A time that stands in a document: as it says, or the nearest that can be shown. */
export function readTime(value: unknown): Date {
  return bounded(typeof value === 'string' ? new Date(value) : value);
}

/** Postgres gives infinity as a number, and what JavaScript has no time for as an invalid one. */
function bounded(value: unknown): Date {
  const ms = value instanceof Date ? value.getTime() : typeof value === 'number' ? value : Number.NaN;
  if (isTime(ms)) return value instanceof Date ? value : new Date(ms);
  return new UnreadableTime(Number.isNaN(ms) ? timeBounds.most : nearest(ms, timeBounds));
}

/** An error as it is stored; what has another shape is shown as it stands there. */
export function readError(value: unknown): JobError | null {
  if (value === null || value === undefined) return null;
  if (isReadableError(value)) return value;
  return { name: 'UnreadableError', message: JSON.stringify(value).slice(0, 4_000), stack: null };
}

export function isReadableError(value: unknown): value is JobError {
  if (!isObject(value)) return false;
  const { name, message, stack } = value;
  return (
    typeof name === 'string' && typeof message === 'string' && (stack === null || typeof stack === 'string')
  );
}

/** `null` for what is none. */
export function readProgress(value: unknown): Progress | null {
  if (!isObject(value) || typeof value['percent'] !== 'number') return null;
  const { percent, message } = value;
  return {
    percent: nearest(percent, { least: 0, most: 100 }),
    message: typeof message === 'string' ? message : null,
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
