/** What the links of a page follow from. */
export interface PagePosition {
  readonly limit: number;
  readonly offset: number;
  /** Items on this page. */
  readonly count: number;
  /** Items of the whole collection; undefined if they were not counted. */
  readonly total: number | undefined;
}

/**
 * The `Link` header of a page (RFC 8288): first, prev, next, last as far as they exist.
 * @param url the collection's URL without a query
 * @param query the raw query of the request; all parameters but limit and offset are kept as they are
 */
export function pageLinks(url: string, query: string, position: PagePosition): string {
  const { limit, offset, count, total } = position;
  const kept = query
    .split('&')
    .filter((pair) => pair !== '' && !/^(?:limit|offset|after|before)(?:=|$)/.test(pair));
  const link = (relation: string, target: number): string =>
    `<${url}?${[...kept, `limit=${limit}`, `offset=${target}`].join('&')}>; rel="${relation}"`;

  const links = [link('first', 0)];
  if (limit > 0) {
    const lastOffset = total === undefined ? undefined : Math.max(0, Math.ceil(total / limit) - 1) * limit;
    if (offset > 0) links.push(link('prev', Math.max(0, Math.min(offset - limit, lastOffset ?? offset))));
    if (total === undefined ? count === limit : offset + limit < total)
      links.push(link('next', offset + limit));
    if (lastOffset !== undefined) links.push(link('last', lastOffset));
  }
  return links.join(', ');
}
