import type { ItemRecord } from '../validation/json-schema.js';
import type { CollectionQuery } from './collection-query.js';
import { encodeCursor, encodeEnd } from './cursor.js';
import type { Page } from './page.js';
import { maxOffset } from './query-parser.js';

/** Larger collections are linked by cursor if their storage supports it. */
const largeCollection = 10_000;

/** Clients reject answers with more than 16 KiB of headers. */
const maxHeaderLength = 13_000;

/** If the links are too long together, the last of these is left out first. */
const byImportance = ['next', 'prev', 'last', 'first'];

/**
 * Returns the `Link` header of a page (RFC 8288): first, prev, next and last, if they exist. Each repeats the query, so with a
 * very long query only the most important links fit.
 * @param url the collection's URL without a query
 * @param rawQuery the query of the request; parameters other than those of the page are repeated unchanged
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
    (query.seek !== undefined || page.cut === true || (page.total ?? Infinity) > largeCollection);
  const targets = query.limit === 0 ? {} : byCursor ? cursorTargets(query, page) : offsetTargets(query, page);
  const links = Object.entries({ first: 'offset=0', ...targets, ...lastTarget(query, page, byCursor) }).map(
    ([relation, target]) => ({
      relation,
      link: `<${url}?${[...kept, `limit=${query.limit}`, target].join('&')}>; rel="${relation}"`,
    }),
  );
  for (const relation of byImportance.toReversed()) {
    if (lengthOf(links) <= maxHeaderLength) break;
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
  { items, total, cut = false }: Page<ItemRecord>,
): Record<string, string> {
  const last = lastOffset(limit, total) ?? offset;
  const end = offset + (cut ? items.length : limit);
  const hasNext = cut || (total === undefined ? items.length === limit : end < total);
  return {
    ...(offset > 0 ? { prev: `offset=${Math.max(0, Math.min(offset - limit, last))}` } : {}),
    ...(hasNext && end <= maxOffset ? { next: `offset=${end}` } : {}),
  };
}

/**
 * A page reached by cursor always has items on the side that it was reached from; on the other side, if the storage
 * found more.
 */
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

/** If the exact number of items is unknown, the last page is the one before the end. */
function lastTarget(
  { limit, sort }: CollectionQuery,
  { total, estimated }: Page<ItemRecord>,
  byCursor: boolean,
): Record<string, string> {
  if (byCursor && limit > 0 && (estimated === true || total === undefined))
    return { last: `before=${encodeEnd(sort)}` };
  const last = estimated === true ? undefined : lastOffset(limit, total);
  if (last !== undefined && last > maxOffset) return byCursor ? { last: `before=${encodeEnd(sort)}` } : {};
  return last === undefined ? {} : { last: `offset=${last}` };
}

function lastOffset(limit: number, total: number | undefined): number | undefined {
  return total === undefined || limit === 0 ? undefined : Math.max(0, Math.ceil(total / limit) - 1) * limit;
}
