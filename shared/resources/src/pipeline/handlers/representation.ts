import type { Resource } from '../../definition/resource.js';
import type { ItemRecord } from '../../validation/json-schema.js';
import { entityTag } from '../entity-tag.js';
import type { ApiResponse } from '../request/request.js';

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
