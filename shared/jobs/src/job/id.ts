import { randomFillSync } from 'node:crypto';
import { type Clock, systemClock } from './clock.js';
import { isTime } from './bounds.js';

/** All values of the 12-bit counter as three hexadecimal digits, computed once for speed. */
const numbers = Array.from({ length: 4_096 }, (_, number) => number.toString(16).padStart(3, '0'));

/**
 * In each new millisecond, the counter starts at a random number below this limit. Two processes therefore rarely use
 * the same counter values. The limit is low enough to leave at least 3,073 ids per millisecond.
 */
const firstNumbers = 1_024;

/**
 * After the clock is set back by more than this many milliseconds, new ids follow the clock. After a smaller step back,
 * new ids continue from the latest id and stay in order.
 */
const maxStepBackMs = 1_000;

const variants = ['8', '9', 'a', 'b'];

const digitsPerId = 16;
const randomBytes = Buffer.alloc(4_096);
let randomDigits = '';
let digitsUsed = 0;

/** Generates ids that sort by creation time. */
export class IdSource {
  readonly #clock: Clock;
  #latestMs = -1;
  #prefix = '';
  #number = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Generates a UUIDv7 (RFC 9562 § 5.7): 48 bits of Unix milliseconds, a 12-bit counter (§ 6.2, method 1) and 62 random
   * bits. The ids of one source sort in order of creation, so Postgres appends them to its indexes. The order is lost only
   * if the clock is set back by more than a second.
   *
   * Written by hand because every enqueued job needs an id. Packages that support version 7 take 5 to 20 times as long
   * (docs/adr/002).
   */
  newId(): string {
    const nowMs = this.#clock.now();
    if (nowMs > this.#latestMs || nowMs < this.#latestMs - maxStepBackMs) this.#begin(nowMs);
    else if (this.#number === numbers.length) this.#begin(this.#latestMs + 1); // ahead of the clock, as RFC 9562 allows
    return idOf(this.#prefix, this.#number++);
  }

  #begin(ms: number): void {
    this.#latestMs = ms;
    this.#prefix = prefixOf(ms);
    this.#number = Math.floor(Math.random() * firstNumbers);
  }
}

const localIds = new IdSource(systemClock);

/**
 * Generates an id, by default from this machine's clock. Jobs and batches use the storage's clock instead (see {@link
 * IdSource}), because lists sort and filter by the time in the id.
 *
 * @param atMs the time to encode, in milliseconds since 1970; now by default. Ids generated with the same `atMs` are in
 *   random order
 */
export function newId(atMs?: number): string {
  if (atMs === undefined) return localIds.newId();
  return idOf(prefixOf(atMs), Math.floor(Math.random() * numbers.length));
}

function prefixOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
}

function idOf(beginning: string, count: number): string {
  if (digitsUsed === randomDigits.length) {
    randomFillSync(randomBytes);
    randomDigits = randomBytes.toString('hex');
    digitsUsed = 0;
  }
  const from = digitsUsed;
  digitsUsed += digitsPerId;
  const variant = variants[(randomBytes[from / 2] ?? 0) >> 6] ?? '8';
  const middle = randomDigits.slice(from + 1, from + 4);
  return `${beginning}${numbers[count] ?? '000'}-${variant}${middle}-${randomDigits.slice(from + 4, from + digitsPerId)}`;
}

const maxMs = 2 ** 48 - 1;

/**
 * Returns a lower bound for all ids that are generated at this time or later. If UUIDv7 cannot represent the time, uses
 * the nearest time that it can represent.
 *
 * @throws {RangeError} if the date is invalid
 */
export function firstIdOf(date: Date): string {
  const ms = date.getTime();
  if (Number.isNaN(ms)) throw new RangeError('The date is invalid');
  const hex = Math.min(Math.max(Math.trunc(ms), 0), maxMs)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether a string has the form of a UUID, as every job id does. */
export function isId(text: string): boolean {
  return uuid.test(text);
}

/**
 * Returns the creation time encoded in a UUIDv7. Returns `undefined` for any other string, or if the year is after
 * 9999.
 */
export function timeOfId(id: string): Date | undefined {
  if (!isId(id) || id[14] !== '7') return undefined;
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return isTime(ms) ? new Date(ms) : undefined;
}
