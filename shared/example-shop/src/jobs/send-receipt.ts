import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defineJob, handleJob, type JobHandler } from '@longshore/jobs';
import type { Queryable } from '@longshore/resources';
import Type from 'typebox';

/** Writes the receipt of an order to a file. A real shop would send it. */
export const sendReceipt = defineJob({
  name: 'send-receipt',
  queue: 'notifications',
  args: Type.Object(
    { orderId: Type.String({ minLength: 36, maxLength: 36 }) },
    { additionalProperties: false },
  ),
});

/**
 * Creates a handler that writes `receipt-{number}.txt`.
 *
 * @param directory where to write the receipts; created if missing
 */
export function sendReceiptHandler(database: Queryable, directory: string): JobHandler {
  return handleJob(sendReceipt, async ({ args }) => {
    const { rows } = await database.query<Receipt>(
      `select o.number, c.name, o.address, o.total::text,
              coalesce(array_agg(l.quantity || ' × ' || l.product || '  ' || l.price order by l.product)
                       filter (where l.id is not null), '{}') as lines
       from shop.order o
       join shop.customer c on c.id = o.customer_id
       left join shop.line_item l on l.order_id = o.id
       where o.id = $1
       group by o.id, c.id`,
      [args.orderId],
    );
    const [order] = rows;
    if (order === undefined) throw new Error(`There is no order ${args.orderId}`);
    const file = path.resolve(directory, `receipt-${order.number}.txt`);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, receiptText(order));
    return { file };
  });
}

interface Receipt {
  readonly number: string;
  readonly name: string;
  readonly address: string;
  readonly total: string;
  readonly lines: readonly string[];
}

function receiptText({ number, name, address, total, lines }: Receipt): string {
  return [`Receipt ${number}`, name, address, '', ...lines, '', `Total  ${total}`, ''].join('\n');
}
