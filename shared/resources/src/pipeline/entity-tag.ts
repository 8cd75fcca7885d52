import { createHash } from 'node:crypto';
import { canonicalJson } from '../validation/canonical-json.js';
import type { ItemRecord } from '../validation/json-schema.js';

/**
 * Returns the strong `ETag` of an item: a digest of the item's JSON. The order of members within field values does not
 * matter.
 *
 * @param item an item as clients see it, with its fields in schema order
 */
export function entityTag(item: ItemRecord): string {
  const fields: Record<string, unknown> = {};
  for (const field in item) fields[field] = canonicalJson(item[field]);
  return `"${createHash('sha1').update(JSON.stringify(fields)).digest('base64url')}"`;
}

/** Returns the weak `ETag` of a page: a digest of the items and of the headers that describe the page. */
export function pageTag(json: string, headers: Readonly<Record<string, string>>): string {
  return `W/"${createHash('sha1').update(json).update(JSON.stringify(headers)).digest('base64url')}"`;
}

/** The entity tags in `If-Match` or `If-None-Match` (RFC 9110, section 13.1); `any` for `*`. */
export type TagList = 'any' | readonly EntityTag[];

interface EntityTag {
  readonly opaque: string;
  readonly isWeak: boolean;
}

/** Matches one tag of a list, with the separator before it. */
const element = /[ \t,]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y;

/** Parses `If-Match` or `If-None-Match`. Returns undefined if the header is neither `*` nor a list of quoted tags. */
export function parseTags(header: string): TagList | undefined {
  if (header.trim() === '*') return 'any';
  const tags: EntityTag[] = [];
  element.lastIndex = 0;
  for (let end = 0; !/^[ \t,]*$/.test(header.slice(end)); end = element.lastIndex) {
    const [, weak, opaque] = element.exec(header) ?? [];
    if (opaque === undefined) return undefined;
    tags.push({ opaque: withoutEncoding(opaque), isWeak: weak !== undefined });
  }
  return tags.length === 0 ? undefined : tags;
}

/** Returns whether `*` was given, or one of the tags is strong and equal to `tag` (RFC 9110, section 8.8.3.2). */
export function matchesStrongly(tags: TagList, tag: string): boolean {
  return tags === 'any' || tags.some(({ opaque, isWeak }) => !isWeak && opaque === tag);
}

/** Returns whether `*` was given, or one of the tags, weak or strong, is equal to `tag`. */
export function matchesWeakly(tags: TagList, tag: string): boolean {
  return tags === 'any' || tags.some(({ opaque }) => opaque === tag.replace(/^W\//, ''));
}

/** Removes the suffix that marks the tag of a compressed body: `"abc-gzip"` → `"abc"`. */
function withoutEncoding(opaque: string): string {
  return opaque.replace(/-(?:br|gzip|deflate)"$/, '"');
}
