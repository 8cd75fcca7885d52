import type { CollectionQuery, Page } from '@longshore/resources';

/** A page as storages of jobs and batches are asked for it. */
interface StoragePage {
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
  readonly offset: number;
  readonly after?: string;
}

/** What a storage found for a page. */
interface Found<Item> {
  readonly rows: readonly Item[];
  /** The page ends before its limit because of its size. */
  readonly cut?: boolean;
}

/**
 * Reads a page, by offset or by cursor, of a collection in the order of its ids.
 *
 * @param read returns rows in one of the two orders, from an offset or after an id
 */
export async function seekPage<Item extends object>(
  { sort, seek, limit, offset }: CollectionQuery,
  read: (page: StoragePage) => Promise<Found<Item>>,
): Promise<Pick<Page<Item>, 'items' | 'more' | 'cut'>> {
  const order = sort[0]?.direction === 'asc' ? 'oldest' : 'newest';
  const backwards = seek?.direction === 'before';
  const id = seek?.values.at(-1); // the sort ends with it
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
