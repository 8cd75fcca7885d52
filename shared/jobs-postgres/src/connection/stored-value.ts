import { shorten } from '@longshore/edge';
import type { JobError } from '@longshore/jobs';
import { clamp, isTime, type Progress, timeBounds } from '@longshore/jobs/storage';
import pg from 'pg';

/** A valid time in place of a stored value that is out of range or not a time. */
export class UnreadableTime extends Date {}

const timestamptz: number = pg.types.builtins.TIMESTAMPTZ;

/** Type parsers of the store's connections: pg's defaults, but times are limited to the years 1970 to 9999. */
export const storedTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') => {
    const parse = pg.types.getTypeParser(oid, format) as (text: string) => unknown;
    return oid === timestamptz ? (text: string) => bounded(utcTime(text) ?? parse(text)) : parse;
  }) as pg.CustomTypesConfig['getTypeParser'],
};

const utcPattern = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/u;

/**
 * Parses Postgres's usual format for UTC timestamps, more than twice as fast as pg's parser. Returns `undefined` for
 * other formats.
 */
function utcTime(text: string): Date | undefined {
  return utcPattern.test(text) ? new Date(`${text.slice(0, 10)}T${text.slice(11)}:00`) : undefined;
}

/**
 * Limits the times in a row from a caller's connection to the years 1970 to 9999. Infinite numbers count as times,
 * because pg returns infinite times as numbers.
 */
export function storedRow<Row extends object>(row: Row): Row {
  const isTimeOf = (value: unknown): boolean =>
    value instanceof Date || value === Infinity || value === -Infinity;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isTimeOf(value) ? bounded(value) : value]),
  ) as Row;
}

/**
 * Reads a time from a JSON document. Returns the nearest valid time if the value is out of range, and the latest valid
 * time if the value is not a time.
 */
export function readTime(value: unknown): Date {
  return bounded(typeof value === 'string' ? new Date(value) : value);
}

/** Converts milliseconds since 1970 to a time, limited to the valid range. */
export function boundedTime(ms: number): Date {
  return bounded(ms);
}

/**
 * Limits a time to the valid range. The driver returns infinite times as numbers, and times beyond JavaScript's range
 * as invalid dates.
 */
function bounded(value: unknown): Date {
  const ms = value instanceof Date ? value.getTime() : typeof value === 'number' ? value : Number.NaN;
  if (isTime(ms)) return value instanceof Date ? value : new Date(ms);
  return new UnreadableTime(Number.isNaN(ms) ? timeBounds.max : clamp(ms, timeBounds));
}

/**
 * Reads a stored error; `null` if there is none. A value that is not an error becomes an `UnreadableError`; its message
 * is the value as JSON, cut to 4000 characters.
 */
export function readError(value: unknown): JobError | null {
  if (value === null || value === undefined) return null;
  if (isReadableError(value)) return value;
  return { name: 'UnreadableError', message: shorten(JSON.stringify(value), 4_000), stack: null };
}

export function isReadableError(value: unknown): value is JobError {
  if (!isObject(value)) return false;
  const { name, message, stack } = value;
  return (
    typeof name === 'string' && typeof message === 'string' && (stack === null || typeof stack === 'string')
  );
}

/** Reads stored progress, with the percentage clamped to 0 to 100. Returns `null` if the value is not progress. */
export function readProgress(value: unknown): Progress | null {
  if (!isObject(value) || typeof value['percent'] !== 'number') return null;
  const { percent, message } = value;
  return {
    percent: clamp(percent, { min: 0, max: 100 }),
    message: typeof message === 'string' ? message : null,
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
