/** One page of a list that has been read completely. */
interface ListPage<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  /** The number of this page, starting at 1. */
  readonly page: number;
  readonly pages: number;
}

/**
 * Returns the page of the list that the parameter `page` selects. Defaults to the first page if the number is invalid,
 * and to the last page if it is too large.
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

/** A part of a list: its first rows, or the rows after a position. */
interface Rows<Row> {
  readonly rows: readonly Row[];
  /** `false` if the list continues after the last row. */
  readonly isComplete: boolean;
}

/**
 * Returns up to `limit` rows. Reads one more to determine whether the list continues.
 *
 * @param read returns at most `limit` rows
 */
export async function readRows<Row>(
  limit: number,
  read: (limit: number) => Promise<readonly Row[]>,
): Promise<Rows<Row>> {
  const rows = await read(limit + 1);
  return { rows: rows.slice(0, limit), isComplete: rows.length <= limit };
}
