import { createHash } from 'node:crypto';
import type { ItemRecord } from './resource/resource.js';

/** The strong `ETag` of an item: a digest of its JSON, in whichever order a storage gives the members of its objects. */
export function entityTag(item: ItemRecord): string {
  return `"${createHash('sha1').update(JSON.stringify(item, ordered)).digest('base64url')}"`;
}

function ordered(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
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
