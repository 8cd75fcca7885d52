import { entityTag } from '../entity-tag.js';
import { apiError, ProblemList } from '../../errors/api-error.js';
import { parseItemQuery, requireNoParameters } from '../../query/collection-query.js';
import { patchTypes } from '../request/media-type.js';
import type { JsonSchema } from '../../validation/json-schema.js';
import type { ItemRecord } from '../../definition/resource.js';
import type { CallContext } from '../../definition/storage.js';
import { validatorFor } from '../../validation/validator.js';
import type { Action, Call } from './checked-request.js';
import { keyValue, noSuchItem, present, requireItem, requirePossible } from './item-lookup.js';
import { itemChange } from './requested-change.js';
import { checkChange, isKnown, preconditionsOf } from './precondition.js';
import { itemResponse, represent } from './representation.js';
import { served } from './served.js';

/** GET on an item; 304 if the caller has it already. */
export function readItem(call: Call<'item'>): Action {
  const { resource, id, serves } = call.route;
  const { fields, waitMs } = parseItemQuery(resource, call.request.query, serves('wait'));
  const headers = serves('patch') ? { 'accept-patch': patchTypes } : {};
  const conditions = preconditionsOf(call.request);
  return async (context) => {
    const item = await requireItem(waitMs === undefined ? call.route : waiting(call, waitMs), id, context);
    const etag = entityTag(represent(resource, item));
    if (isKnown(conditions, etag)) return { status: 304, headers: { etag } };
    return { status: 200, headers: { ...headers, etag }, body: represent(resource, item, fields) };
  };
}

/** The place of an item that is read when it has come to what clients wait for. */
function waiting({ route: { resource, storage }, request }: Call<'item'>, waitMs: number) {
  const get = (id: string, context: CallContext): Promise<ItemRecord | undefined> =>
    served(storage.wait?.(id, waitMs, context, request.signal));
  return { resource, storage: { get } };
}

/** PUT on an item: full replacement. */
export function replaceItem(call: Call<'item'>): Action {
  const { resource, storage, id } = call.route;
  const body = checkedBody(call, resource.bodies.replace);
  requireSameKey(call, body);
  const change = itemChange(call, body, { conditions: preconditionsOf(call.request), merges: false });
  return async (context) => {
    requirePossible(resource, id);
    const item = await served(storage.replace?.(id, change, context));
    return itemResponse(resource, present(resource, id, item), 200);
  };
}

/** PATCH on an item: JSON merge patch. */
export function patchItem(call: Call<'item'>): Action {
  const { resource, storage, id } = call.route;
  const body = checkedBody(call, resource.bodies.patch);
  requireSameKey(call, body);
  const change = itemChange(call, body, { conditions: preconditionsOf(call.request), merges: true });
  return async (context) => {
    requirePossible(resource, id);
    const item = await served(storage.patch?.(id, change, context));
    return itemResponse(resource, present(resource, id, item), 200);
  };
}

/** DELETE on an item. */
export function deleteItem(call: Call<'item'>): Action {
  const { resource, storage, id } = call.route;
  requireNoParameters(call.request.query);
  const conditions = preconditionsOf(call.request);
  const check = (current: ItemRecord): void => checkChange(resource, conditions, current);
  return async (context) => {
    requirePossible(resource, id);
    const existed = await served(storage.delete?.(id, check, context));
    if (!existed) throw noSuchItem(resource, id);
    return { status: 204, headers: {} };
  };
}

function checkedBody(call: Call<'item'>, schema: JsonSchema): ItemRecord {
  requireNoParameters(call.request.query);
  const problems = new ProblemList();
  problems.addAll(validatorFor(schema).check(call.body));
  problems.throwIfAny();
  return call.body as ItemRecord;
}

function requireSameKey(call: Call<'item'>, body: ItemRecord): void {
  const { key } = call.route.resource;
  if (body[key] !== undefined && body[key] !== keyValue(call.route.resource, call.route.id)) {
    throw apiError(42202, `${key} must be "${call.route.id}", as the path says`);
  }
}
