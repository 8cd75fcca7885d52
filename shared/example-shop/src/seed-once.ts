import { type Database, inTransaction } from '@longshore/resources';
import { seed } from './seed.js';

const tables = ['store', 'customer', 'customer_group', 'order', 'car', 'ticket'];

/**
 * Fills the shop if it is empty; of several processes that try at once, one does it.
 *
 * @param replace empties it first
 */
export async function seedOnce(
  database: Database,
  orders: number,
  { replace = false }: { readonly replace?: boolean } = {},
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await transaction.query('lock table shop.store in exclusive mode');
    if (replace) {
      const names = tables.map((table) => `shop.${table}`).join(', ');
      await transaction.query(`truncate ${names} restart identity cascade`);
    }
    const { rows } = await transaction.query('select from shop.store limit 1');
    if (rows.length === 0) await seed(transaction, orders);
  });
}
