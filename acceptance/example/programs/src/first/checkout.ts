import { drizzle } from 'drizzle-orm/node-postgres';
import { sql } from 'drizzle-orm';
import { drizzleTransaction, type JobClient } from 'longshore';
import type pg from 'pg';
import { charge, refund, sendReceipt, ship } from './jobs.js';

/**
 * Stores a purchase and enqueues what follows from it, in one transaction of Drizzle: charge, then ship; refund if it
 * cannot be shipped; and the receipt.
 */
export async function checkOut(
  client: JobClient,
  pool: pg.Pool,
  purchase: number,
  email: string,
): Promise<{ shipping: string; refunding: string }> {
  return drizzle(pool).transaction(async (tx) => {
    await tx.execute(sql`insert into desk.purchase (id) values (${purchase})`);
    const transaction = drizzleTransaction(tx);
    const charging = await client.enqueue(charge, { purchase }, { transaction });
    const shipping = await client.enqueue(
      ship,
      { purchase },
      { after: { parents: [charging.id] }, transaction },
    );
    const after = { parents: [shipping.id], when: 'onFailed' } as const;
    const refunding = await client.enqueue(refund, { purchase }, { after, transaction });
    await client.enqueue(sendReceipt, { purchase, email }, { transaction });
    return { shipping: shipping.id, refunding: refunding.id };
  });
}
