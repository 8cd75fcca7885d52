import type { Page } from '../resource/storage.js';
import type { CollectionQuery } from './collection-query.js';
import type { Filter } from './filter-value.js';

/** Those of a collection that match every filter. */
export function itemsOf<Item extends object>(items: readonly Item[], filters: readonly Filter[]): Item[] {
  return items.filter((item) => {
    const fields = new Map<string, unknown>(Object.entries(item));
    return filters.every((filter) => matches(fields.get(filter.field), filter));
  });
}

/** The page that a query asks for, of a collection that is small enough to be read as a whole. */
export function pageOf<Item extends object>(
  items: readonly Item[],
  { filters, sort, limit, offset }: CollectionQuery,
): Page<Item> {
  const matching = itemsOf(items, filters)
    .map((item) => [item, new Map<string, unknown>(Object.entries(item))] as const)
    .toSorted(([, left], [, right]) => {
      for (const { field, direction } of sort) {
        const order = compare(left.get(field), right.get(field));
        if (order !== 0) return direction === 'asc' ? order : -order;
      }
      return 0;
    })
    .map(([item]) => item);
  return { items: matching.slice(offset, offset + limit), total: matching.length };
}

/** `exact` or `partial`; small collections declare no other filters. */
function matches(value: unknown, { match, values }: Filter): boolean {
  if (match === 'partial') return String(value).toLowerCase().includes(String(values[0]).toLowerCase());
  return Array.isArray(value)
    ? value.some((element) => values.includes(element as string))
    : values.includes(value as string);
}

function compare(left: unknown, right: unknown): number {
  if (left === right) return 0;
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return String(left) < String(right) ? -1 : 1;
}
