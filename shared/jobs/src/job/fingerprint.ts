import { createHash } from 'node:crypto';
import type { JsonText, JsonValue } from './job.js';

/**
 * Returns the SHA-256 hash of the arguments in base64url (43 characters). The hash does not depend on the order of
 * object members.
 *
 * @param name the job's name, hashed together with the arguments; empty by default
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
