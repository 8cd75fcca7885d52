import { compareTexts, fold, spellingsOf, typosIn, wordPattern, wordsOf } from '@longshore/edge';
import { type ItemRecord, valueAt } from '../validation/json-schema.js';
import { type CollectionQuery, encodeCursor, encodeEnd, type Selection } from './collection-query.js';
import type { Filter } from './filter.js';
import { maxOffset, parseQueryString } from './query-parser.js';

/** One page of a collection. */
export interface Page<Item> {
  /** At most `query.limit` items, in the order of `query.sort`. */
  readonly items: readonly Item[];
  /** The number of all matching items; undefined if `query.count` is `none`. */
  readonly total: number | undefined;
  readonly estimated?: boolean;
  /**
   * Whether a search reached a time or row limit, so that more items may match. If the total counts only the items
   * found so far, `estimated` must also be set.
   */
  readonly partial?: boolean;
  /** Whether there are more items in the direction of paging. Required if the storage has `seeks`. */
  readonly more?: boolean;
  /**
   * Whether items were left out because the page would have been too large. They are on the next page in the direction
   * of paging.
   */
  readonly cut?: boolean;
}

/** Returns the items of an in-memory collection that match every filter. */
export function itemsOf<Item extends object>(items: readonly Item[], filters: readonly Filter[]): Item[] {
  return rankedItems(items, { filters, search: undefined, searchFields: [] }).map(({ item }) => item);
}

/** Returns one page of an in-memory collection, by offset or by cursor. */
export function pageOf<Item extends object>(items: readonly Item[], query: CollectionQuery): Page<Item> {
  const { sort, limit, offset, seek, byRelevance } = query;
  const matches = rankedItems(items, query)
    .map(({ item, typos }) => ({ item, typos, values: valuesOf(item, sort) }))
    .toSorted(
      (left, right) =>
        (byRelevance ? left.typos - right.typos : 0) || inOrder(sort, left.values, right.values),
    );
  const total = matches.length;
  if (seek === undefined) {
    const page = matches.slice(offset, offset + limit);
    return { items: page.map(({ item }) => item), total, more: offset + limit < total };
  }
  const isAfter = seek.direction === 'after';
  const beyond = matches.filter(({ values }) => {
    const order = seek.values.length === 0 ? -1 : inOrder(sort, values, seek.values);
    return isAfter ? order > 0 : order < 0;
  });
  const page = isAfter ? beyond.slice(0, limit) : beyond.slice(Math.max(0, beyond.length - limit));
  return { items: page.map(({ item }) => item), total, more: beyond.length > limit };
}

/**
 * Returns the items that match a selection, with the number of typos in the words of the search; 0 without a search.
 */
function rankedItems<Item extends object>(
  items: readonly Item[],
  { filters, search, searchFields }: Selection,
): readonly { readonly item: Item; readonly typos: number }[] {
  const texts =
    search === undefined ? [] : items.map((item) => textOf(new Map(Object.entries(item)), searchFields));
  const typosOf = typosIn(spellingsOf(wordsOf(search), texts));
  return items.flatMap((item, index) => {
    const fields = new Map<string, unknown>(Object.entries(item));
    if (!filters.every((filter) => matches(fields.get(filter.field), filter))) return [];
    const typos = typosOf(texts[index] ?? '');
    return typos === undefined ? [] : [{ item, typos }];
  });
}

function textOf(fields: ReadonlyMap<string, unknown>, searched: readonly string[]): string {
  return searched
    .flatMap((field) => fields.get(field) ?? [])
    .map(String)
    .join(' ');
}

function valuesOf(item: object, sort: CollectionQuery['sort']): readonly unknown[] {
  return sort.map(({ field }) => valueAt(item as ItemRecord, field));
}

function inOrder(sort: CollectionQuery['sort'], left: readonly unknown[], right: readonly unknown[]): number {
  for (const [index, { direction }] of sort.entries()) {
    const [one, other] = [left[index] ?? null, right[index] ?? null];
    if ((one === null) !== (other === null)) return one === null ? 1 : -1; // nulls last, in both directions
    const order = compare(one, other);
    if (order !== 0) return direction === 'asc' ? order : -order;
  }
  return 0;
}

/**
 * Returns whether a value matches a filter. Treats every filter except `partial` as `exact`. Callers of {@link itemsOf}
 * and {@link pageOf} must therefore apply `from`, `to` and `path` filters themselves, and not pass them.
 */
function matches(value: unknown, { match, values }: Filter): boolean {
  if (match === 'partial') return new RegExp(wordPattern(fold(String(values[0]))), 'u').test(String(value));
  return Array.isArray(value)
    ? value.some((element) => values.includes(element as string))
    : values.includes(value as string);
}

function compare(left: unknown, right: unknown): number {
  if (left === right) return 0;
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return compareTexts(String(left), String(right));
}

/** Maximum total size of the items of a page, in bytes of JSON. A single item can be larger. */
export const maxPageBytes = 4 * 1024 * 1024;

/**
 * Maximum length of the `Link` header, in characters. By default, Node's HTTP client rejects responses with more than
 * 16 KiB of headers.
 */
const maxHeaderLength = 13_000;

/** Link relations, most important first. If the header would be too long, the least important links are left out. */
const byImportance = ['next', 'prev', 'last', 'first'];

/**
 * Returns the `Link` header of a page (RFC 8288): first, prev, next and last, if they exist. The links use cursors, so
 * that items added or removed between two requests cause no repetitions or gaps. The links use offsets if the storage
 * does not support cursors, the request has an offset, or the page is ordered by relevance.
 *
 * @param url the collection's URL without a query
 * @param rawQuery the query of the request; all parameters except those for paging are repeated unchanged
 * @param seeks whether the storage supports cursors
 */
export function pageLinks(
  url: string,
  rawQuery: string,
  query: CollectionQuery,
  page: Page<ItemRecord>,
  seeks: boolean,
): string {
  const pairs = rawQuery.split('&').filter((pair) => pair !== '');
  const otherPairs = pairs.filter((pair) => !pagingParameters.has(nameOf(pair)));
  const hasOffset = pairs.some((pair) => nameOf(pair) === 'offset');
  const targets =
    seeks && !query.byRelevance && !hasOffset ? cursorTargets(query, page) : offsetTargets(query, page);
  const links = Object.entries(targets).map(([relation, target]) => ({
    relation,
    link: `<${url}?${[...otherPairs, `limit=${query.limit}`, ...target].join('&')}>; rel="${relation}"`,
  }));
  for (const relation of byImportance.toReversed()) {
    if (lengthOf(links) <= maxHeaderLength) break;
    const index = links.findIndex((link) => link.relation === relation);
    if (index !== -1) links.splice(index, 1);
  }
  return links.map(({ link }) => link).join(', ');
}

const pagingParameters: ReadonlySet<string | undefined> = new Set(['limit', 'offset', 'after', 'before']);

/** Returns the decoded name of a parameter. */
function nameOf(pair: string): string | undefined {
  return parseQueryString(pair)[0]?.[0];
}

function lengthOf(links: readonly { readonly link: string }[]): number {
  return links.reduce((length, { link }) => length + link.length + 2, 0);
}

/** The paging parameters of each link, by relation. */
type Targets = Readonly<Record<string, readonly string[]>>;

function offsetTargets(
  { limit, offset }: CollectionQuery,
  { items, total, estimated, cut = false }: Page<ItemRecord>,
): Targets {
  if (limit === 0) return { first: ['offset=0'] };
  const last = total === undefined ? undefined : Math.max(0, Math.ceil(total / limit) - 1) * limit;
  const end = offset + (cut ? items.length : limit);
  const hasNext = cut || (total === undefined ? items.length === limit : end < total);
  return {
    first: ['offset=0'],
    ...(offset > 0 ? { prev: [`offset=${Math.max(0, Math.min(offset - limit, last ?? offset))}`] } : {}),
    ...(hasNext && end <= maxOffset ? { next: [`offset=${end}`] } : {}),
    ...(last !== undefined && last <= maxOffset && estimated !== true ? { last: [`offset=${last}`] } : {}),
  };
}

/**
 * Returns the links that use cursors. In the direction of paging, there is a link if the storage found more items. In
 * the opposite direction, there is a link if the request has a cursor other than the end of the collection. The link
 * `last` leads to a full page that ends with the last item.
 */
function cursorTargets({ limit, sort, seek }: CollectionQuery, { items, more }: Page<ItemRecord>): Targets {
  if (limit === 0) return { first: [] };
  const [first, last] = [items.at(0), items.at(-1)];
  const ends = { first: [], last: [`before=${encodeEnd(sort)}`] };
  if (first === undefined || last === undefined) return ends;
  const isForward = seek?.direction !== 'before';
  const hasPrevious = isForward ? seek !== undefined : more === true;
  const hasNext = isForward ? more === true : seek.values.length > 0;
  return {
    ...ends,
    ...(hasPrevious ? { prev: [`before=${encodeCursor(sort, first)}`] } : {}),
    ...(hasNext ? { next: [`after=${encodeCursor(sort, last)}`] } : {}),
  };
}
