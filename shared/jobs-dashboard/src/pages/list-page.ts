/** A page of a list that has been read as a whole. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  /** 1 for the first page. */
  readonly page: number;
  readonly pages: number;
}

/**
 * @param query with the parameter `page`; an invalid one means the first page, one beyond the end the last
 */
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
