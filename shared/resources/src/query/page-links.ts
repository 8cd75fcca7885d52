import type { Page } from '../resource/storage.js';
import type { ItemRecord } from '../resource/resource.js';
import { type CollectionQuery, farthestOffset } from './collection-query.js';
import { encodeCursor, encodeEnd } from './cursor.js';

/** Collections with more items than this are linked by cursors, if their storage seeks. */
const large = 10_000;

/**
 * The `Link` header of a page (RFC 8288): first, prev, next, last as far as they exist.
 * @param url the collection's URL without a query
 * @param rawQuery the query of the request; all parameters but those that choose the page are kept as they are
 * @param seeks whether the storage serves cursors
 */
export function pageLinks(
  url: string,
  rawQuery: string,
  query: CollectionQuery,
  page: Page<ItemRecord>,
  seeks: boolean,
): string {
  const kept = rawQuery
    .split('&')
    .filter((pair) => pair !== '' && !/^(?:limit|offset|after|before)(?:=|$)/.test(pair));
  const byCursor =
    seeks &&
    !query.byRelevance &&
    (query.seek !== undefined || page.cut === true || (page.total ?? Infinity) > large);
  const targets = query.limit === 0 ? {} : byCursor ? cursorTargets(query, page) : offsetTargets(query, page);
  return Object.entries({ first: 'offset=0', ...targets, ...lastTarget(query, page, byCursor) })
    .map(
      ([relation, target]) =>
        `<${url}?${[...kept, `limit=${query.limit}`, target].join('&')}>; rel="${relation}"`,
    )
    .join(', ');
}

function offsetTargets(
  { limit, offset }: CollectionQuery,
  { items, total }: Page<ItemRecord>,
): Record<string, string> {
  const last = lastOffset(limit, total) ?? offset;
  const hasNext = total === undefined ? items.length === limit : offset + limit < total;
  return {
    ...(offset > 0 ? { prev: `offset=${Math.max(0, Math.min(offset - limit, last))}` } : {}),
    ...(hasNext && offset + limit <= farthestOffset ? { next: `offset=${offset + limit}` } : {}),
  };
}

/** On a page by cursor there are items behind where it came from, and ahead if the storage found more. */
function cursorTargets(
  { sort, offset, seek }: CollectionQuery,
  { items, more }: Page<ItemRecord>,
): Record<string, string> {
  const [first, last] = [items.at(0), items.at(-1)];
  if (first === undefined || last === undefined) return {};
  const hasPrevious = seek === undefined ? offset > 0 : seek.direction === 'after' || more === true;
  const isLast = seek?.direction === 'before' && seek.values.length === 0;
  const hasNext = !isLast && (seek?.direction === 'before' || more === true);
  return {
    ...(hasPrevious ? { prev: `before=${encodeCursor(sort, first)}` } : {}),
    ...(hasNext ? { next: `after=${encodeCursor(sort, last)}` } : {}),
  };
}

/** Where the number of items is not known for certain, the last page is that before the end. */
function lastTarget(
  { limit, sort }: CollectionQuery,
  { total, estimated }: Page<ItemRecord>,
  byCursor: boolean,
): Record<string, string> {
  if (byCursor && limit > 0 && (estimated === true || total === undefined))
    return { last: `before=${encodeEnd(sort)}` };
  const last = estimated === true ? undefined : lastOffset(limit, total);
  if (last !== undefined && last > farthestOffset)
    return byCursor ? { last: `before=${encodeEnd(sort)}` } : {};
  return last === undefined ? {} : { last: `offset=${last}` };
}

function lastOffset(limit: number, total: number | undefined): number | undefined {
  return total === undefined || limit === 0 ? undefined : Math.max(0, Math.ceil(total / limit) - 1) * limit;
}
