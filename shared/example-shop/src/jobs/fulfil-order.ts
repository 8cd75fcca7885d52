import { CancelJob, defineJob, handleJob, type JobHandler } from '@longshore/jobs';
import type { Queryable } from '@longshore/resources';
import Type from 'typebox';
import { refundOrder } from './refund-order.js';

/** Waits until a paid order is shipped, or refunds it. */
export const fulfilOrder = defineJob({
  name: 'fulfil-order',
  queue: 'fulfilment',
  args: Type.Object(
    { orderId: Type.String({ minLength: 36, maxLength: 36 }) },
    { additionalProperties: false },
  ),
});

/** The key by which signals find the job of an order. */
export const keyOfOrder = (orderId: string): string => `order:${orderId}`;

const dayMs = 86_400_000;

/** From this total on, a refund takes an approval. */
const approvalFrom = 100;

/**
 * Creates a handler that waits for up to three days for the signal `parcel`, such as `{ "tracking": "SL-1" }`, and then ships
 * the order. Without a parcel, or with `{ "lost": true }`, it refunds the order. A dear order is refunded only if the
 * signal `approval` says so within two days: `{ "approved": true }`.
 */
export function fulfilOrderHandler(database: Queryable): JobHandler {
  return handleJob(fulfilOrder, async ({ args: { orderId }, step, waitFor, enqueueAndWait }) => {
    const { status, total } = await step('read the order', () => find(database, orderId));
    if (status !== 'paid') throw new CancelJob(`The order is ${status}, not paid`);
    const parcel = await waitFor<Parcel>('parcel', { timeoutMs: 3 * dayMs });
    if (parcel !== null && parcel.lost !== true) {
      await step(
        'ship the order',
        async ({ client }) => {
          await client.query("update shop.order set status = 'shipped' where id = $1 and status = 'paid'", [
            orderId,
          ]);
        },
        { transaction: true },
      );
      return { shipped: parcel.tracking ?? '' };
    }
    if (total >= approvalFrom) {
      const approval = await waitFor<{ approved?: boolean }>('approval', { timeoutMs: 2 * dayMs });
      if (approval?.approved !== true) return { refunded: false };
    }
    await enqueueAndWait(refundOrder, { orderId }, { step: 'refund the order' });
    return { refunded: true };
  });
}

interface Parcel {
  readonly tracking?: string;
  readonly lost?: boolean;
}

async function find(database: Queryable, orderId: string): Promise<{ status: string; total: number }> {
  const { rows } = await database.query<{ status: string; total: number }>(
    'select status::text as status, total::float8 as total from shop.order where id = $1',
    [orderId],
  );
  const [order] = rows;
  if (order === undefined) throw new Error(`There is no order ${orderId}`);
  return order;
}
