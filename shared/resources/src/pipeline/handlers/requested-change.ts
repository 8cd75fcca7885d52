import { isDeepStrictEqual } from 'node:util';
import { canonicalTime } from '@longshore/edge';
import type { Resource } from '../../definition/resource.js';
import type { ItemChange } from '../../definition/storage.js';
import { type Problem, ProblemList } from '../../errors/api-error.js';
import { type ItemRecord, type JsonSchema, mapValues, typesOf } from '../../validation/json-schema.js';
import { validatorFor } from '../../validation/validator.js';
import { checkChange, type Preconditions } from './representation.js';

export interface ChangeOptions {
  readonly conditions: Preconditions;
  /** Whether the body is merged into the item (PATCH) instead of replacing it. */
  readonly merges: boolean;
  /** The position of the body in the request, such as `[3]`, for messages; empty by default. */
  readonly at?: string;
}

/** Returns the change that a body requests. The body must already be validated. */
export function requestedChange(
  resource: Resource,
  body: ItemRecord,
  { conditions, merges, at = '' }: ChangeOptions,
): ItemChange<ItemRecord, ItemRecord> {
  const writable = resource.fields.filter((field) => !resource.serverSet.includes(field));
  const fields = pick(body, writable);
  return {
    fields,
    apply(current) {
      checkChange(resource, conditions, current);
      const problems = new ProblemList();
      problems.addAll(changedServerFields(resource, body, current, at));
      const result = merges ? mergePatch(pick(current, writable), fields) : fields;
      if (merges) problems.addAll(validatorFor(resource.bodies.replace).check(result, at));
      problems.throwIfAny();
      return result;
    },
  };
}

function changedServerFields(
  resource: Resource,
  body: ItemRecord,
  current: ItemRecord,
  at: string,
): readonly Problem[] {
  return [...new Set([...resource.serverSet, resource.key])]
    .filter(
      (field) =>
        body[field] !== undefined &&
        !isSameValue(resource.item.properties?.[field] ?? {}, body[field], current[field]),
    )
    .map((field) => ({
      code: 42202,
      internalMessage: `${at === '' ? '' : `${at}.`}${field} is ${JSON.stringify(current[field])} and cannot be changed`,
    }));
}

function pick(record: ItemRecord, fields: readonly string[]): ItemRecord {
  return Object.fromEntries(
    fields.flatMap((field) => (record[field] === undefined ? [] : [[field, record[field]]])),
  );
}

/** Applies a JSON merge patch (RFC 7396). Null removes a member, objects are merged, other values are set. */
function mergePatch(target: ItemRecord, patch: ItemRecord): ItemRecord {
  const result = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    const current = result.get(name);
    if (value === null) result.delete(name);
    else if (isObject(value)) result.set(name, mergePatch(isObject(current) ? current : {}, value));
    else result.set(name, value);
  }
  return Object.fromEntries(result);
}

function isObject(value: unknown): value is ItemRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether two values of a schema are the same. Times are compared by value, whatever their notation. */
function isSameValue(schema: JsonSchema, one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) || isDeepStrictEqual(canonical(schema, one), canonical(schema, other));
}

function canonical(schema: JsonSchema, value: unknown): unknown {
  if (typeof value === 'string') {
    return typesOf(schema).includes('date-time') ? (canonicalTime(value) ?? value) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const alternatives = schema.anyOf ?? [schema];
  if (Array.isArray(value)) {
    const items = alternatives.find((alternative) => alternative.items !== undefined)?.items ?? {};
    return value.map((element) => canonical(items, element));
  }
  const properties = alternatives.find((alternative) => alternative.properties !== undefined)?.properties;
  return mapValues(value as Readonly<Record<string, unknown>>, (member, name) =>
    canonical(properties?.[name] ?? {}, member),
  );
}
