import type { CollectionQuery, Page } from '@longshore/resources';

/** A request to the storage for the rows of one page of jobs or batches. */
interface StoragePage {
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
  readonly offset: number;
  readonly after?: string;
}

interface Found<Item> {
  readonly rows: readonly Item[];
  /** Whether rows were left out because they would exceed the size limit. */
  readonly cut?: boolean;
}

/**
 * Reads a page of a collection that is sorted by id. The page starts at an offset or after a cursor, or ends before a
 * cursor.
 *
 * @param read reads rows in either order, starting at an offset or after an id
 */
export async function seekPage<Item extends object>(
  { sort, seek, limit, offset }: CollectionQuery,
  read: (page: StoragePage) => Promise<Found<Item>>,
): Promise<Pick<Page<Item>, 'items' | 'more' | 'cut'>> {
  const order = sort[0]?.direction === 'asc' ? 'oldest' : 'newest';
  const backwards = seek?.direction === 'before';
  const id = seek?.values[sort.findIndex(({ field }) => field === 'id')];
  const { rows, cut = false } = await read({
    order: backwards ? opposite(order) : order,
    limit: limit + 1,
    offset,
    ...(typeof id === 'string' && { after: id }),
  });
  const items = rows.slice(0, limit);
  const isShort = cut && items.length < limit;
  return { items: backwards ? items.toReversed() : items, more: cut || rows.length > limit, cut: isShort };
}

function opposite(order: 'newest' | 'oldest'): 'newest' | 'oldest' {
  return order === 'newest' ? 'oldest' : 'newest';
}
