import { type Problem, ProblemList } from '../../errors/api-error.js';
import type { ItemRecord, Resource } from '../../definition/resource.js';
import type { ItemChange, KeyedChange } from '../../definition/storage.js';
import { isDeepStrictEqual } from 'node:util';
import { validatorFor } from '../../validation/validator.js';
import type { Call } from './checked-request.js';
import { nameOf } from './item-lookup.js';
import { mergePatch } from './merge-patch.js';
import { checkChange, type Preconditions } from './precondition.js';

export interface ChangeOptions {
  readonly conditions: Preconditions;
  /** The body is merged into the item (PATCH) instead of replacing it. */
  readonly merges: boolean;
  /** Place of the body in the request, for messages. */
  readonly at?: string;
}

/** The change that a checked body asks for. */
export function itemChange(
  call: Call,
  body: ItemRecord,
  { conditions, merges, at = '' }: ChangeOptions,
): ItemChange<ItemRecord, ItemRecord> {
  const { resource } = call.route;
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

/**
 * Applies a bulk change to the items as they are.
 * @param current the existing items by id
 * @returns the new writable fields of each item, in the order of the changes
 * @throws ApiError with the problems of every bad element
 */
export function applyAll<Item, Fields>(
  resource: Pick<Resource, 'singular'>,
  changes: readonly KeyedChange<Item, Fields>[],
  current: ReadonlyMap<string, Item>,
): readonly Fields[] {
  const problems = new ProblemList();
  const results = changes.flatMap(({ id, change }, index) => {
    const item = current.get(id);
    if (item === undefined) {
      problems.add({
        code: 40402,
        internalMessage: `[${index}]: there is no ${nameOf(resource)} "${id}" here`,
      });
      return [];
    }
    const result = problems.collect(() => change.apply(item));
    return result === undefined ? [] : [result];
  });
  problems.throwIfAny();
  return results;
}

function changedServerFields(
  resource: Resource,
  body: ItemRecord,
  current: ItemRecord,
  at: string,
): readonly Problem[] {
  return [...resource.serverSet, resource.key]
    .filter((field, index, all) => all.indexOf(field) === index)
    .filter((field) => body[field] !== undefined && !isDeepStrictEqual(body[field], current[field]))
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
