/** Inclusive bounds of a number. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/**
 * The bounds of everything that a job carries. Checked wherever something comes in (the client, the HTTP API, the SQL function,
 * storages), shown in the OpenAPI document, and kept by constraints in the database (migration 022): no row holds a value that
 * another process cannot read or move.
 */
export const bounds = {
  /** Each priority in use costs every claim of its queue, so there are few of them. */
  priority: { least: -100, most: 100 },
  maxAttempts: { least: 1, most: 1_000 },
  /** Time limit of one attempt, in milliseconds: up to a day. */
  timeoutMs: { least: 1, most: 86_400_000 },
  /** Delay of a job, set by its enqueuer or handler, in milliseconds: up to ten years of 365 days. */
  delayMs: { least: 0, most: 315_360_000_000 },
  /** How long a key may be held, in milliseconds: up to a year. */
  periodMs: { least: 1, most: 31_536_000_000 },
  /** Jobs of one concurrency key that run at once. */
  concurrencyLimit: { least: 1, most: 10_000 },
  /** Bytes of arguments, or of a result, as JSON. */
  documentBytes: { least: 1, most: 67_108_864 },
  /** Characters of a unique key, an idempotency key or a concurrency key, and of the name of a batch. */
  keyLength: { least: 1, most: 200 },
  tagLength: { least: 1, most: 100 },
  tags: { least: 0, most: 20 },
  parents: { least: 1, most: 1_000 },
} as const satisfies Record<string, Bounds>;

/** Times are from 1970 to 9999: what RFC 3339, JavaScript and Postgres all have. Milliseconds since 1970. */
export const timeBounds: Bounds = { least: 0, most: 253_402_300_799_999 };

/**
 * However often operators retry a job, its attempts are not counted beyond this.
 * Numbers of attempts go no further than this in the database.
 */
export const mostCountedAttempts = 10_000;

/** @throws {RangeError} that names the value and its bounds if it is not an integer within them */
export function checkInteger(what: string, value: number, { least, most }: Bounds): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`${what} is an integer from ${least} to ${most}, not ${shown(value)}`);
}

/** @throws {RangeError} that names the value and its bounds if it is not a number of milliseconds up to ten years */
export function checkDelay(what: string, ms: number): number {
  if (isDelay(ms)) return ms;
  const { least, most } = bounds.delayMs;
  throw new RangeError(
    `${what} is a number of milliseconds from ${least} to ${most} (ten years), not ${shown(ms)}`,
  );
}

/** Whether a value is a number of milliseconds by which a job may be put off. */
export function isDelay(ms: unknown): ms is number {
  return typeof ms === 'number' && ms >= bounds.delayMs.least && ms <= bounds.delayMs.most;
}

/** @throws {RangeError} if it is no Date from 1970 to 9999 */
export function checkTime(what: string, time: Date): Date {
  if (time instanceof Date && isTime(time.getTime())) return time;
  throw new RangeError(
    `${what} is a Date from 1970-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z, not ${shown(time)}`,
  );
}

/** Whether a number of milliseconds since 1970 is a time that can be stored. */
export function isTime(ms: number): boolean {
  return ms >= timeBounds.least && ms <= timeBounds.most;
}

/** @throws {RangeError} if it is not a text of as many characters, or has some that Postgres does not keep */
export function checkText(what: string, text: string, { least, most }: Bounds): string {
  if (typeof text === 'string' && text.length >= least && text.length <= most && isKept(text)) return text;
  throw new RangeError(`${what} is a text of ${least} to ${most} characters, without NUL`);
}

/** The nearest value within the bounds. */
export function nearest(value: number, { least, most }: Bounds): number {
  return Math.min(Math.max(value, least), most);
}

/** The nearest number of milliseconds by which a job may be put off; the most for what is no number, as in Postgres. */
export function nearestDelay(ms: number): number {
  return Number.isNaN(ms) ? bounds.delayMs.most : nearest(ms, bounds.delayMs);
}

function isKept(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function shown(value: unknown): string {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString();
  return typeof value === 'string'
    ? `"${value.slice(0, 100)}"`
    : typeof value === 'number'
      ? String(value)
      : typeof value;
}
