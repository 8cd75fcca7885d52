import { defineJob, handleJob, type JobHandler } from '@longshore/jobs';
import Type from 'typebox';

export const refundOrder = defineJob({
  name: 'refund-order',
  queue: 'payments',
  args: Type.Object(
    { orderId: Type.String({ minLength: 36, maxLength: 36 }) },
    { additionalProperties: false },
  ),
});

/**
 * Writes the ledger entry and updates the order in the transaction that completes the job, so both happen exactly once.
 * The ledger allows only one entry per order, so a second refund job for the same order adds no entry.
 */
export const refundOrderHandler: JobHandler = handleJob(refundOrder, ({ args, transaction }) =>
  transaction(async (client) => {
    const { rows } = await client.query(
      `insert into shop.ledger_entry (order_id, amount)
       select id, -total from shop.order where id = $1
       on conflict (order_id) do update set amount = ledger_entry.amount
       returning id, amount::float8`,
      [args.orderId],
    );
    const [entry] = rows as readonly { id: string; amount: number }[];
    if (entry === undefined) throw new Error(`There is no order ${args.orderId}`);
    await client.query("update shop.order set status = 'refunded' where id = $1", [args.orderId]);
    return { ledgerEntry: entry.id, amount: entry.amount };
  }),
);
