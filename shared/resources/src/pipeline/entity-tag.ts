import { createHash } from 'node:crypto';
import type { ItemRecord } from '../definition/resource.js';

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

/** The entity tags of a condition (RFC 9110, section 13.1); `any` for `*`. */
export type TagList = 'any' | readonly EntityTag[];

interface EntityTag {
  readonly opaque: string;
  readonly isWeak: boolean;
}

/** One tag of a list, with what separates it from the one before. */
const element = /[ \t,]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y;

/** The tags in `If-Match` or `If-None-Match`; undefined if the header is neither `*` nor a list of quoted tags. */
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

/** Whether one of the tags is this one and strong: weak ones say nothing of a change (RFC 9110, section 8.8.3.2). */
export function matchesStrongly(tags: TagList, tag: string): boolean {
  return tags === 'any' || tags.some(({ opaque, isWeak }) => !isWeak && opaque === tag);
}

/** Whether one of the tags is this one, weak or strong. */
export function matchesWeakly(tags: TagList, tag: string): boolean {
  return tags === 'any' || tags.some(({ opaque }) => opaque === tag);
}

/** A tag that went out with a compressed body carries the encoding as a suffix; it stands for the same item. */
function withoutEncoding(opaque: string): string {
  return opaque.replace(/-(?:br|gzip|deflate)"$/, '"');
}
