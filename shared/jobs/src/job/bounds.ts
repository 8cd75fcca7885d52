import { isStorable } from '@longshore/edge';
import { shown } from './shown.js';

/** Inclusive bounds of a number. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/**
 * Bounds of the values that are stored with a job. The client, the HTTP API and the SQL function enforce them, and the
 * OpenAPI document lists them. The storage and the database also check priorities, numbers of attempts and times,
 * because a single invalid value could stop a process from reading or claiming jobs.
 */
export const bounds = {
  /** The range is small because each priority in use makes every claim from the queue more expensive. */
  priority: { min: -100, max: 100 },
  maxAttempts: { min: 1, max: 1_000 },
  /** Time limit per attempt, in milliseconds: up to a day. */
  timeoutMs: { min: 1, max: 86_400_000 },
  /** Delay before a job runs, in milliseconds: up to ten years of 365 days. */
  delayMs: { min: 0, max: 315_360_000_000 },
  /**
   * How long a job can hold a unique key or an idempotency key after the job's creation, in milliseconds: up to a year.
   */
  periodMs: { min: 1, max: 31_536_000_000 },
  /** Maximum number of jobs with the same concurrency key that run at once. */
  concurrencyLimit: { min: 1, max: 10_000 },
  /** Configurable maximum size of the arguments or the result as JSON, in bytes. */
  documentBytes: { min: 1, max: 67_108_864 },
  /** Length of a unique key, an idempotency key, a concurrency key or a batch name, in characters. */
  keyLength: { min: 1, max: 200 },
  tagLength: { min: 1, max: 100 },
  /** Length of the reason for an operator's action, in characters. */
  reasonLength: { min: 1, max: 500 },
  tags: { min: 0, max: 20 },
  /** Length of an error's name, in characters; a longer name is truncated. */
  errorName: { min: 1, max: 200 },
  /** Length of an error's message, in characters; a longer message is truncated. */
  errorMessage: { min: 0, max: 4_000 },
  /** Length of a progress message, in characters; a longer message is truncated. */
  progressMessage: { min: 0, max: 500 },
  parents: { min: 1, max: 1_000 },
  /** How many signals of one name a handler waits for. */
  awaitedSignals: { min: 1, max: 1_000 },
  /** The version of a job definition. */
  version: { min: 1, max: 1_000_000 },
} as const satisfies Record<string, Bounds>;

/** Times from 1970 to 9999, in milliseconds since 1970. RFC 3339, JavaScript and Postgres can all represent them. */
export const timeBounds: Bounds = { min: 0, max: 253_402_300_799_999 };

/**
 * Maximum value of a job's attempt counter. Postgres stores the counter as a `smallint`, which repeated retries by
 * operators would otherwise overflow.
 */
export const maxCountedAttempts = 10_000;

/** How many attempts of a job are kept, the first and the newest: each can have a long stack, and all are in one row. */
export const maxKeptAttempts = 100;

/**
 * Returns `value` if it is an integer within the bounds.
 *
 * @throws {RangeError} otherwise; the message begins with `what` and contains the bounds
 */
export function checkInteger(what: string, value: number, { min, max }: Bounds): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`${what} must be an integer from ${min} to ${max}, not ${shown(value)}`);
}

/**
 * Returns `ms` if it is a valid delay: a number of milliseconds from 0 to ten years. Fractions are allowed.
 *
 * @throws {RangeError} otherwise; the message begins with `what` and contains the bounds
 */
export function checkDelay(what: string, ms: number): number {
  if (isDelay(ms)) return ms;
  const { min, max } = bounds.delayMs;
  throw new RangeError(
    `${what} must be a number of milliseconds from ${min} to ${max} (ten years), not ${shown(ms)}`,
  );
}

/** Returns whether a value is a number of milliseconds from 0 to ten years. */
export function isDelay(ms: unknown): ms is number {
  return typeof ms === 'number' && ms >= bounds.delayMs.min && ms <= bounds.delayMs.max;
}

/**
 * Returns `time` if it is a Date from 1970 to 9999.
 *
 * @throws {RangeError} otherwise; the message begins with `what`
 */
export function checkTime(what: string, time: unknown): Date {
  if (time instanceof Date && isTime(time.getTime())) return time;
  if (typeof time === 'string' || typeof time === 'number')
    throw new RangeError(
      `${what} must be a Date, not a ${typeof time}: write new Date(${JSON.stringify(time)})`,
    );
  throw new RangeError(
    `${what} must be a Date from 1970-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z, not ${shown(time)}`,
  );
}

/** Returns whether a number of milliseconds since 1970 is within {@link timeBounds}. */
export function isTime(ms: number): boolean {
  return ms >= timeBounds.min && ms <= timeBounds.max;
}

/**
 * Returns `text` if its length is within the bounds and Postgres can store it. Postgres cannot store NUL or unpaired
 * surrogates.
 *
 * @throws {RangeError} otherwise; the message begins with `what`
 */
export function checkText(what: string, text: string, { min, max }: Bounds): string {
  if (typeof text === 'string' && text.length >= min && text.length <= max && isStorable(text)) return text;
  const got = typeof text === 'string' ? `one of ${text.length}` : shown(text);
  throw new RangeError(`${what} must be a string of ${min} to ${max} characters, without NUL, not ${got}`);
}

/** The regular expression of names of jobs, queues, recurring jobs and applications, for JSON Schemas. */
export const namePattern = String.raw`^[A-Za-z0-9][\w.:-]{0,99}$`;

const name = new RegExp(namePattern);

/** Returns whether a value is 1 to 100 letters, digits, `.`, `_`, `-` and `:`, beginning with a letter or digit. */
export function isName(value: unknown): boolean {
  return typeof value === 'string' && name.test(value);
}

/** Returns the value; if it is out of bounds, returns the nearer bound. `NaN` stays `NaN`. */
export function clamp(value: number, { min, max }: Bounds): number {
  return Math.min(Math.max(value, min), max);
}

/** Clamps a delay to `bounds.delayMs`. `NaN` becomes the maximum, as in Postgres. */
export function clampDelay(ms: number): number {
  return Number.isNaN(ms) ? bounds.delayMs.max : clamp(ms, bounds.delayMs);
}
