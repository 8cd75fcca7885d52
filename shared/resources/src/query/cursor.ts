import { apiError } from '../errors/api-error.js';
import { type ItemRecord, schemaAt, valueAt } from '../validation/json-schema.js';
import { validatorFor } from '../validation/validator.js';
import type { QueryRules, SortTerm } from './collection-query.js';

/** Encodes the position of an item in a sorted collection as an opaque cursor. */
export function encodeCursor(sort: readonly SortTerm[], item: ItemRecord): string {
  const values = sort.map(({ field }) => valueAt(item, field));
  return Buffer.from(JSON.stringify([sortText(sort), ...values])).toString('base64url');
}

/** Encodes the end of a collection as a cursor. The page before that cursor is the last page. */
export function encodeEnd(sort: readonly SortTerm[]): string {
  return Buffer.from(JSON.stringify([sortText(sort)])).toString('base64url');
}

/**
 * Decodes a cursor to one value for each sort term. Returns an empty list for the end of the collection.
 * @throws {ApiError} 40003 if the cursor was not made for this collection and order
 */
export function decodeCursor(
  resource: Pick<QueryRules, 'item'>,
  sort: readonly SortTerm[],
  parameter: string,
  cursor: string,
): readonly unknown[] {
  const [made, ...values] = parse(cursor) ?? [];
  const isEnd = values.length === 0 && parameter === 'before';
  const fits =
    made === sortText(sort) &&
    (isEnd ||
      (values.length === sort.length &&
        sort.every(({ field }, index) => admits(resource, field, values[index]))));
  if (!fits)
    throw apiError(
      40003,
      `${parameter} is not a valid cursor for this collection and order; use the links of a page`,
    );
  return values;
}

function admits(resource: Pick<QueryRules, 'item'>, field: string, value: unknown): boolean {
  const schema = schemaAt(resource.item, field) ?? {};
  const optional = field.includes('.') || !(resource.item.required ?? []).includes(field);
  return (optional && value === null) || validatorFor(schema).explain(value).length === 0;
}

function sortText(sort: readonly SortTerm[]): string {
  return sort.map(({ field, direction }) => (direction === 'desc' ? `-${field}` : field)).join(',');
}

function parse(cursor: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
