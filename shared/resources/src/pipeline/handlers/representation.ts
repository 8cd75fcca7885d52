import { createHash } from 'node:crypto';
import type { Resource } from '../../definition/resource.js';
import { apiError } from '../../errors/api-error.js';
import type { ItemRecord } from '../../validation/json-schema.js';
import type { ApiRequest, ApiResponse } from '../request.js';

/**
 * Returns an item as clients see it: only the given fields, in the given order. Default: all fields in schema order.
 */
export function represent(
  resource: Resource,
  item: ItemRecord,
  fields: readonly string[] = resource.fields,
): ItemRecord {
  const shown: Record<string, unknown> = {};
  for (const field of fields) {
    const value = item[field];
    if (value !== undefined) shown[field] = value;
  }
  return shown;
}

/** Returns a response with one item and its `ETag`. */
export function itemResponse(
  resource: Resource,
  item: ItemRecord,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  const body = represent(resource, item);
  return { status, headers: { ...headers, etag: entityTag(withoutShownOnce(resource, body)) }, body };
}

/** Removes fields that are sent only in the response to a POST, such as secrets. */
export function withoutShownOnce({ shownOnce }: Resource, item: ItemRecord): ItemRecord {
  if (shownOnce.length === 0) return item;
  return Object.fromEntries(Object.entries(item).filter(([field]) => !shownOnce.includes(field)));
}

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
type TagList = 'any' | readonly EntityTag[];

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
function matchesStrongly(tags: TagList, tag: string): boolean {
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

/** The conditions of a request (RFC 9110, section 13). */
export interface Preconditions {
  readonly ifMatch: TagList | undefined;
  readonly ifNoneMatch: TagList | undefined;
}

/**
 * Parses the conditions of a request.
 * @throws {ApiError} 40003 for a header that is neither `*` nor a list of quoted tags
 */
export function preconditionsOf({ headers }: ApiRequest): Preconditions {
  return {
    ifMatch: tagsIn('If-Match', headers['if-match']),
    ifNoneMatch: tagsIn('If-None-Match', headers['if-none-match']),
  };
}

export function isConditional({ ifMatch, ifNoneMatch }: Preconditions): boolean {
  return ifMatch !== undefined || ifNoneMatch !== undefined;
}

/**
 * Like {@link checkConditions}, but for a change: also checks that `If-Match` is given if the resource requires it.
 * @throws {ApiError} 42801 if the resource requires `If-Match` and there is none, 41201 if a condition does not hold
 */
export function checkChange(resource: Resource, conditions: Preconditions, current: ItemRecord): void {
  if (conditions.ifMatch === undefined && resource.ifMatch === 'required')
    throw apiError(42801, `Changes to ${resource.name} need If-Match with the item's ETag`);
  checkConditions(resource, conditions, current);
}

/**
 * Checks a request's conditions, if any, against the current item. The check is reliable only while the item is
 * locked.
 * @throws {ApiError} 41201 if a condition does not hold
 */
export function checkConditions(resource: Resource, conditions: Preconditions, current: ItemRecord): void {
  if (!isConditional(conditions)) return;
  const tag = entityTag(represent(resource, current));
  requireMatch(conditions, tag);
  if (conditions.ifNoneMatch !== undefined && matchesWeakly(conditions.ifNoneMatch, tag))
    throw apiError(41201, `If-None-Match names the current ETag ${tag}: the item exists`);
}

/**
 * Returns whether the caller already has the current version, according to `If-None-Match`.
 * @throws {ApiError} 41201 if `If-Match` does not hold
 */
export function isKnown(conditions: Preconditions, tag: string): boolean {
  requireMatch(conditions, tag);
  return conditions.ifNoneMatch !== undefined && matchesWeakly(conditions.ifNoneMatch, tag);
}

function requireMatch({ ifMatch }: Preconditions, tag: string): void {
  if (ifMatch === undefined || matchesStrongly(ifMatch, tag)) return;
  const weak = ifMatch !== 'any' && matchesWeakly(ifMatch, tag);
  const reason = weak ? 'names it only as a weak tag (W/), which never matches' : 'does not name it';
  throw apiError(41201, `The current ETag is ${tag}; If-Match ${reason}`);
}

function tagsIn(name: string, header: string | undefined): TagList | undefined {
  if (header === undefined) return undefined;
  const tags = parseTags(header);
  if (tags === undefined) throw apiError(40003, `${name} must be * or a list of ETags in double quotes`);
  return tags;
}

/**
 * Sorts the members of objects at every level, so that equal JSON values have equal texts. For large values, this is much
 * faster than a replacer function for JSON.stringify.
 */
export function canonicalJson(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.some(isObject) ? value.map(canonicalJson) : value;
  const entries = Object.entries(value).map(([name, member]) => [name, canonicalJson(member)] as const);
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
