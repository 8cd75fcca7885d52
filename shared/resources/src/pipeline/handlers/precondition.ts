import type { Resource } from '../../definition/resource.js';
import { apiError } from '../../errors/api-error.js';
import type { ItemRecord } from '../../validation/json-schema.js';
import { entityTag, matchesStrongly, matchesWeakly, parseTags, type TagList } from '../entity-tag.js';
import type { ApiRequest } from '../request/request.js';
import { represent } from './representation.js';

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
