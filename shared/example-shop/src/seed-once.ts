import { type Database, inTransaction } from '@longshore/resources';
import { seed } from './seed.js';

/** Fills the shop if it is empty; of several processes that try at once, one does it. */
export async function seedOnce(database: Database, orders: number): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await transaction.query('lock table shop.store in exclusive mode');
    const { rows } = await transaction.query('select from shop.store limit 1');
    if (rows.length === 0) await seed(transaction, orders);
  });
}
