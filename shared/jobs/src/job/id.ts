import { randomUUID } from 'node:crypto';

let prefixMs = -1;
let prefix = '';

/**
 * A UUIDv7 (RFC 9562 § 5.7): 48 bits of Unix milliseconds, then 74 random bits, so ids sort by the
 * millisecond of their creation.
 *
 * Made from Node's pooled `randomUUID` with the time written over its first 52 bits: an id is made for every
 * job that is enqueued, and the packages that offer version 7 take 3 to 10 times as long (docs/adr/002).
 */
export function newId(nowMs: number = Date.now()): string {
  if (nowMs !== prefixMs) {
    const hex = nowMs.toString(16).padStart(12, '0');
    prefix = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
    prefixMs = nowMs;
  }
  return prefix + randomUUID().slice(15);
}

const maxMs = 2 ** 48 - 1;

/**
 * No id made at this time or later sorts before this one, none made earlier after it. A time that UUIDv7 cannot hold counts
 * as the nearest one that it can.
 *
 * @throws {RangeError} if it is no time
 */
export function firstIdOf(date: Date): string {
  const ms = date.getTime();
  if (Number.isNaN(ms)) throw new RangeError('An invalid Date is no time');
  const hex = Math.min(Math.max(Math.trunc(ms), 0), maxMs)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a UUID; what has not cannot be the id of a job. */
export function isId(text: string): boolean {
  return uuid.test(text);
}
