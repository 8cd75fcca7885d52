import type { Connection } from './connection.js';
import { isOfData } from './errors.js';

/**
 * Processes many items. With {@link allOrNothing}, an error makes all of them fail. {@link bisecting} sets aside the
 * items whose data causes an error, and processes the others.
 */
export type Isolate = <Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Result>,
  setAside: (item: Item, error: unknown) => Promise<void>,
) => Promise<Result[]>;

/** Processes all items in one call. Callers switch to {@link bisecting} if this fails. */
export const allOrNothing: Isolate = async (items, work) => (items.length === 0 ? [] : [await work(items)]);

/**
 * Returns an `Isolate` that uses savepoints in an open transaction. If data makes `work` fail, tries each half of the
 * items separately, and sets aside the faulty items. Rethrows other errors.
 */
export function bisecting(client: Connection): Isolate {
  const isolate: Isolate = async (items, work, setAside) => {
    if (items.length === 0) return [];
    await client.query('savepoint item');
    try {
      const result = await work(items);
      await client.query('release savepoint item');
      return [result];
    } catch (error) {
      if (!isOfData(error)) throw error;
      await client.query('rollback to savepoint item; release savepoint item');
      const [first] = items;
      if (first !== undefined && items.length === 1) {
        await setAside(first, error);
        return [];
      }
      const middle = Math.ceil(items.length / 2);
      return [
        ...(await isolate(items.slice(0, middle), work, setAside)),
        ...(await isolate(items.slice(middle), work, setAside)),
      ];
    }
  };
  return isolate;
}
