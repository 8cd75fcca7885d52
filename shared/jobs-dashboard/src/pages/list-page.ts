/** A page of a list that has been read as a whole. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  /** 1 for the first page. */
  readonly page: number;
  readonly pages: number;
}

/**
 * Returns a page of the list.
 *
 * @param query contains the parameter `page`: an invalid value selects the first page, one beyond the end the last page
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

/** The first rows of a list, or the rows after a position. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  /** `false` if the list continues after the last of these rows. */
  readonly isComplete: boolean;
}

/**
 * Returns up to `limit` rows. Reads one more row to find out whether the list continues.
 *
 * @param read returns at most `limit` rows
 */
export async function readRows<Row>(
  limit: number,
  read: (limit: number) => Promise<readonly Row[]>,
): Promise<Rows<Row>> {
  const found = await read(limit + 1);
  return { rows: found.slice(0, limit), isComplete: found.length <= limit };
}
