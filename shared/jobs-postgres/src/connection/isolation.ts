import type pg from 'pg';
import { isOfData } from './database.js';

/**
 * Does work for many items at once. Either plainly, all of them or none, or so that an item that makes it fail does not keep
 * the others from theirs.
 */
export type Isolate = <Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Result>,
  setAside: (item: Item, error: unknown) => Promise<void>,
) => Promise<Result[]>;

/** All of them or none: what is done as long as nothing fails. */
export const together: Isolate = async (items, work) => (items.length === 0 ? [] : [await work(items)]);

/**
 * In a transaction, with savepoints: if the work fails for a reason of its data, the items are halved until the one that is
 * to blame is found and set aside. Errors that may pass fail the transaction as ever.
 */
export function apart(client: pg.ClientBase): Isolate {
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
