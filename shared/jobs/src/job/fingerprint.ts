import { createHash } from 'node:crypto';
import type { JsonText, JsonValue } from './job.js';

/**
 * 43 characters that are the same for the same arguments, in whatever order their members stand: SHA-256 in base64url.
 *
 * @param name goes into it, too
 */
export function fingerprintOf(args: JsonText, name = ''): string {
  const sorted: unknown = JSON.parse(args, (_, value: JsonValue) => inOrder(value));
  return createHash('sha256')
    .update(JSON.stringify([name, sorted]))
    .digest('base64url');
}

function inOrder(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
