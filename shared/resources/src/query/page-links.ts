import type { ItemRecord } from '../validation/json-schema.js';
import type { CollectionQuery } from './collection-query.js';
import { encodeCursor, encodeEnd } from './cursor.js';
import type { Page } from './page.js';
import { farthestOffset } from './query-parser.js';

/** Collections with more items than this are linked by cursors, if their storage seeks. */
const large = 10_000;

/** Clients refuse an answer whose headers take more than 16 KiB together. */
const longestHeader = 13_000;

/** Which links are left out first where all of them together would be too long. */
const byImportance = ['next', 'prev', 'last', 'first'];

/**
 * The `Link` header of a page (RFC 8288): first, prev, next, last as far as they exist. Each repeats the query, so that of
 * a very long one only the most important links fit.
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
  const links = Object.entries({ first: 'offset=0', ...targets, ...lastTarget(query, page, byCursor) }).map(
    ([relation, target]) => ({
      relation,
      link: `<${url}?${[...kept, `limit=${query.limit}`, target].join('&')}>; rel="${relation}"`,
    }),
  );
  for (const relation of byImportance.toReversed()) {
    if (lengthOf(links) <= longestHeader) break;
    const place = links.findIndex((link) => link.relation === relation);
    if (place !== -1) links.splice(place, 1);
  }
  return links.map(({ link }) => link).join(', ');
}

function lengthOf(links: readonly { readonly link: string }[]): number {
  return links.reduce((length, { link }) => length + link.length + 2, 0);
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
