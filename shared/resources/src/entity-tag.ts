import { createHash } from 'node:crypto';
import type { ItemRecord } from './resource/resource.js';

/** The strong `ETag` of an item: a digest of its JSON, in whichever order a storage gives the members of its objects. */
export function entityTag(item: ItemRecord): string {
  return `"${createHash('sha1')
    .update(JSON.stringify(ordered(item)))
    .digest('base64url')}"`;
}

/** With a function that JSON.stringify calls for each part, a large item takes ten times as long. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.some(isObject) ? value.map(ordered) : value;
  const entries = Object.entries(value).map(([name, member]) => [name, ordered(member)] as const);
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/**
 * Whether a list of tags, as `If-Match` and `If-None-Match` carry it (RFC 9110, section 13.1), names this one.
 * A tag that went out with a compressed body carries the encoding as a suffix; it stands for the same item.
 */
export function listsTag(header: string, tag: string): boolean {
  return header.split(',').some((part) => {
    const candidate = part.trim();
    return candidate === '*' || candidate.replace(/^W\//, '').replace(/-(?:br|gzip|deflate)"$/, '"') === tag;
  });
}
