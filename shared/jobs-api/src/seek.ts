import { type CollectionQuery, type Page, pageOf } from '@longshore/resources';

/** A request to the storage for the rows of one page of jobs or batches. */
export interface StoragePage {
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

/** How many items are compared for an order or a search that the storage does not have. */
export const maxCompared = 10_000;

/**
 * Reads a page in an order, or of a search, that the storage does not have: among its first {@link maxCompared} items. If
 * there are more, the page is marked `partial`.
 */
export async function comparedPage<Stored, Item extends object>(
  query: CollectionQuery,
  list: (page: { readonly limit: number }) => Promise<readonly Stored[]>,
  toItem: (stored: Stored) => Item,
): Promise<Page<Item>> {
  const first = await list({ limit: maxCompared + 1 });
  const page = pageOf(first.slice(0, maxCompared).map(toItem), query);
  return first.length > maxCompared ? { ...page, estimated: true, partial: true } : page;
}

function opposite(order: 'newest' | 'oldest'): 'newest' | 'oldest' {
  return order === 'newest' ? 'oldest' : 'newest';
}
