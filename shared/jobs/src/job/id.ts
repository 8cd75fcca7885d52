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

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a UUID; what has not cannot be the id of a job. */
export function isId(text: string): boolean {
  return uuid.test(text);
}
