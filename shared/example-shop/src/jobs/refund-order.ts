import { defineJob, handleJob, type JobHandler } from '@longshore/jobs';
import { type Database, inTransaction } from '@longshore/resources';
import Type from 'typebox';

/** Pays the money of an order back. */
export const refundOrder = defineJob({
  name: 'refund-order',
  queue: 'payments',
  args: Type.Object(
    { orderId: Type.String({ minLength: 36, maxLength: 36 }) },
    { additionalProperties: false },
  ),
});

/** Writes the ledger entry, once for each order however often the job runs, and notes it in the order. */
export function refundOrderHandler(database: Database): JobHandler {
  return handleJob(refundOrder, ({ args }) =>
    inTransaction(database, async (transaction) => {
      const { rows } = await transaction.query(
        `insert into shop.ledger_entry (order_id, amount)
         select id, -total from shop.order where id = $1
         on conflict (order_id) do update set amount = ledger_entry.amount
         returning id, amount::float8`,
        [args.orderId],
      );
      const entry = rows[0];
      if (entry === undefined) throw new Error(`There is no order ${args.orderId}`);
      await transaction.query("update shop.order set status = 'refunded' where id = $1", [args.orderId]);
      return { ledgerEntry: entry['id'], amount: entry['amount'] };
    }),
  );
}
