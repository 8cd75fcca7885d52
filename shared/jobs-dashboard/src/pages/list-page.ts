/** One page of a list that is at hand as a whole. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  /** 1 for the first. */
  readonly page: number;
  readonly pages: number;
}

/** @param query whose parameter `page` says which; anything that is none counts as the first, and one behind the end as the last */
export function pageOf<Row>(list: readonly Row[], query: URLSearchParams, rows: number): ListPage<Row> {
  const pages = Math.max(1, Math.ceil(list.length / rows));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.get('page'))) || 1));
  return {
    rows: list.slice((page - 1) * rows, page * rows),
    total: list.length,
    page,
    pages,
  };
}
