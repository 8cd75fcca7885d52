import { createHash } from 'node:crypto';
import type { JsonText, JsonValue } from './json.js';

/**
 * Returns the SHA-256 hash of the job's name and arguments in base64url (43 characters). The order of object members
 * does not affect the hash.
 *
 * @param name the job's name; empty by default
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
