import type { CallContext } from '../../definition/context.js';
import { resultOf } from '../../definition/storage.js';
import { apiError, ProblemList } from '../../errors/api-error.js';
import { parseItemDeletionQuery, parseItemQuery, requireNoParameters } from '../../query/query-parser.js';
import type { ItemRecord, JsonSchema } from '../../validation/json-schema.js';
import { validatorFor } from '../../validation/validator.js';
import { patchTypes } from '../request.js';
import { keyValue } from '../route.js';
import { type CheckedRequest, type Execute, throwAllProblems } from './checked-request.js';
import { noSuchItem, requireFound, requireItem, requirePossibleId } from './item-lookup.js';
import {
  checkChange,
  entityTag,
  isKnown,
  itemResponse,
  preconditionsOf,
  represent,
} from './representation.js';
import { requestedChange } from './requested-change.js';

/** Serves GET on an item. Responds with 304 if the caller already has the current version. */
export function readItem(checked: CheckedRequest<'item'>): Execute {
  const { resource, id, serves } = checked.route;
  const { fields, waitMs } = parseItemQuery(resource, checked.request.query, serves('wait'));
  const headers = serves('patch') ? { 'accept-patch': patchTypes } : {};
  const conditions = preconditionsOf(checked.request);
  return async (context) => {
    const item = await requireItem(
      waitMs === undefined ? checked.route : waiting(checked, waitMs),
      id,
      context,
    );
    const whole = represent(resource, item);
    const etag = entityTag(whole);
    const body = fields === undefined ? whole : represent(resource, item, fields);
    return { status: isKnown(conditions, etag) ? 304 : 200, headers: { ...headers, etag }, body };
  };
}

/**
 * Returns the route's resource, and a storage whose `get` calls `wait` of the route's storage, so that
 * {@link requireItem} waits.
 */
function waiting({ route: { resource, storage }, request }: CheckedRequest<'item'>, waitMs: number) {
  const get = (id: string, context: CallContext): Promise<ItemRecord | undefined> =>
    resultOf(storage.wait?.(id, waitMs, context, request.signal));
  return { resource, storage: { get } };
}

/** Serves PUT on an item: replaces all writable fields of the item. */
export async function replaceItem(checked: CheckedRequest<'item'>): Promise<Execute> {
  const { resource, storage, id } = checked.route;
  const body = await checkedBody(checked, resource.bodies.replace);
  requireSameKey(checked, body);
  const change = requestedChange(resource, body, {
    conditions: preconditionsOf(checked.request),
    merges: false,
  });
  return async (context) => {
    requirePossibleId(resource, id);
    const item = await resultOf(storage.replace?.(id, change, context));
    return itemResponse(resource, requireFound(resource, id, item), 200);
  };
}

/** Serves PATCH on an item: applies a JSON merge patch. */
export async function patchItem(checked: CheckedRequest<'item'>): Promise<Execute> {
  const { resource, storage, id } = checked.route;
  const body = await checkedBody(checked, resource.bodies.patchShape);
  requireSameKey(checked, body);
  const change = requestedChange(resource, body, {
    conditions: preconditionsOf(checked.request),
    merges: true,
  });
  return async (context) => {
    requirePossibleId(resource, id);
    const item = await resultOf(storage.patch?.(id, change, context));
    return itemResponse(resource, requireFound(resource, id, item), 200);
  };
}

/** Serves DELETE on an item. The storage checks the conditions of the request while it has the item locked. */
export function deleteItem(checked: CheckedRequest<'item'>): Execute {
  const { resource, storage, id } = checked.route;
  const reason = parseItemDeletionQuery(resource, checked.request.query);
  const conditions = preconditionsOf(checked.request);
  const check = (current: ItemRecord): void => checkChange(resource, conditions, current);
  return async (context) => {
    requirePossibleId(resource, id);
    const existed = await resultOf(storage.delete?.(id, check, { ...context, reason }));
    if (!existed) throw noSuchItem(resource, id);
    return { status: 204, headers: {} };
  };
}

async function checkedBody(checked: CheckedRequest<'item'>, schema: JsonSchema): Promise<ItemRecord> {
  requireNoParameters(checked.request.query);
  const problems = new ProblemList();
  problems.addAll(validatorFor(schema).check(checked.body));
  await throwAllProblems(checked, problems);
  return checked.body as ItemRecord;
}

function requireSameKey(checked: CheckedRequest<'item'>, body: ItemRecord): void {
  const { key } = checked.route.resource;
  if (body[key] !== undefined && body[key] !== keyValue(checked.route.resource, checked.route.id)) {
    throw apiError(42202, `${key} must be "${checked.route.id}", as in the path`);
  }
}
