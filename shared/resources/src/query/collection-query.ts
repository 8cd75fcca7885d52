import { apiError } from '../errors/api-error.js';
import { type ItemRecord, type JsonSchema, schemaAt, valueAt } from '../validation/json-schema.js';
import { validatorFor } from '../validation/validator.js';
import type { Filter, FilterParameter } from './filter.js';

/** Query parameters with a fixed meaning. Filters cannot have these names. */
export const reservedParameters = ['q', 'sort', 'fields', 'limit', 'offset', 'after', 'before'] as const;

/** A sort term such as `-createdAt`. */
export interface SortTerm {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** Whether the query parameter `reason` of a DELETE is optional or required. */
export type DeletionReason = 'optional' | 'required';

/** The parts of a resource definition that are needed to parse queries. */
export interface QueryRules {
  readonly item: JsonSchema;
  /** The names of the item's fields in the order of the schema. */
  readonly fields: readonly string[];
  /** The field that identifies an item. */
  readonly key: string;
  readonly filters: ReadonlyMap<string, FilterParameter>;
  /** The fields that `sort` accepts. */
  readonly sort: readonly string[];
  readonly defaultSort: readonly SortTerm[];
  /** The fields that `q` searches; empty if the resource has no search. */
  readonly search: readonly string[];
  readonly limits: { readonly default: number; readonly max: number };
  /** undefined if a DELETE takes no reason. */
  readonly deletionReason: DeletionReason | undefined;
}

/** The items that a query selects: those that match all filters and the search, if there is one. */
export interface Selection {
  readonly filters: readonly Filter[];
  /** The text to search for, from `q` or from `/search/{keyword}`; undefined if there is no search. */
  readonly search: string | undefined;
  /** The fields to search, from the definition. */
  readonly searchFields: readonly string[];
}

/** A parsed query on a collection. */
export interface CollectionQuery extends Selection {
  /** Contains the key, so that the order is total. */
  readonly sort: readonly SortTerm[];
  /** Whether to sort by best match first, then by `sort`. True if there is a search but no explicit sort. */
  readonly byRelevance: boolean;
  readonly limit: number;
  readonly offset: number;
  /**
   * The position in the cursor `after` or `before`; undefined if the request has no cursor. The page has only items
   * after or before this position.
   */
  readonly seek: Seek | undefined;
  /**
   * The fields that the caller selected; undefined for all fields. A storage may return more fields; the toolkit
   * removes them.
   */
  readonly fields: readonly string[] | undefined;
  /** From `Prefer: count=`. `default` lets the storage estimate; tables estimate counts above 10,000 rows. */
  readonly count: 'default' | 'exact' | 'none';
}

/** A parsed query on a stream of events. */
export interface StreamQuery {
  readonly filters: readonly Filter[];
  /** The id of the last event that the client received; undefined if the client sent none. */
  readonly lastEventId: string | undefined;
}

/** A position in the order of a collection. */
export interface Seek {
  readonly direction: 'after' | 'before';
  /** One value for each sort term. Empty for the end of the collection; `direction` is then `before`. */
  readonly values: readonly unknown[];
}

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
  const [sortOfCursor, ...values] = parse(cursor) ?? [];
  const isEnd = values.length === 0 && parameter === 'before';
  const fits =
    sortOfCursor === sortText(sort) &&
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
