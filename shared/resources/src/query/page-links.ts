import type { ItemRecord } from '../validation/json-schema.js';
import { type CollectionQuery, encodeCursor, encodeEnd } from './collection-query.js';
import type { Page } from './page.js';
import { maxOffset, parseQueryString } from './query-parser.js';

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
  const kept = pairs.filter((pair) => !pagingParameters.has(nameOf(pair)));
  const hasOffset = pairs.some((pair) => nameOf(pair) === 'offset');
  const targets =
    seeks && !query.byRelevance && !hasOffset ? cursorTargets(query, page) : offsetTargets(query, page);
  const links = Object.entries(targets).map(([relation, target]) => ({
    relation,
    link: `<${url}?${[...kept, `limit=${query.limit}`, ...target].join('&')}>; rel="${relation}"`,
  }));
  for (const relation of byImportance.toReversed()) {
    if (lengthOf(links) <= maxHeaderLength) break;
    const place = links.findIndex((link) => link.relation === relation);
    if (place !== -1) links.splice(place, 1);
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
