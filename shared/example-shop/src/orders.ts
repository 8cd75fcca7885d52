import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line, money, nullable, sumOfMoney, time } from './field-types.js';
import { fulfilOrder, keyOfOrder } from './jobs/fulfil-order.js';
import { refundOrder } from './jobs/refund-order.js';
import { sendReceipt } from './jobs/send-receipt.js';

const lineItems = defineResource(
  {
    name: 'lineitems',
    singular: 'line-item',
    description: 'The items of an order, which make up its total.',
    item: Type.Object({
      id,
      orderId: id,
      product: line(200),
      quantity: Type.Integer({ minimum: 1, maximum: 10_000 }),
      price: money,
    }),
    serverSet: ['id'],
    filters: { product: 'partial' },
  },
  tableStorage({ name: 'shop.line_item' }),
);

const Reason = Type.Object(
  { reason: Type.Optional({ ...line(1000), description: 'Why the order is cancelled' }) },
  { additionalProperties: false },
);

/**
 * An order goes from `open` to `paid` to `shipped`. Cancelling an open order takes effect immediately. Cancelling a
 * paid order creates a cancellation for staff to approve or reject. A shipped order can be returned. A job refunds
 * returned orders and approved cancellations.
 */
export const orders = defineResource(
  {
    name: 'orders',
    description: 'What a customer buys in a store.',
    item: Type.Object({
      id,
      number: line(20),
      customerId: id,
      storeId: line(60),
      status: Type.Enum([
        'open',
        'paid',
        'shipped',
        'cancellation-requested',
        'cancelled',
        'returned',
        'refunding',
        'refunded',
      ]),
      total: sumOfMoney,
      address: line(300),
      note: nullable(line(1000)),
      createdAt: time,
    }),
    serverSet: ['id', 'number', 'status', 'total', 'createdAt'],
    filters: {
      number: 'exact',
      status: 'exact',
      customerId: 'exact',
      storeId: 'exact',
      minTotal: { field: 'total', match: 'from' },
      maxTotal: { field: 'total', match: 'to' },
      createdAfter: { field: 'createdAt', match: 'from' },
      createdBefore: { field: 'createdAt', match: 'to' },
    },
    defaultSort: ['-createdAt'],
    operations: {
      pay: {
        summary: 'Record a payment and send the receipt',
        states: { field: 'status', from: ['open'], to: ['paid'] },
        enqueues: true,
      },
      fulfil: {
        summary: 'Have a job wait for the parcel of a paid order, and ship or refund the order',
        enqueues: true,
      },
      ship: {
        summary: 'Ship a paid order',
        states: { field: 'status', from: ['paid'], to: ['shipped'] },
      },
      cancel: {
        summary: 'Cancel an open order or request the cancellation of a paid one',
        body: Reason,
        states: { field: 'status', from: ['open', 'paid'], to: ['cancelled', 'cancellation-requested'] },
      },
      return: {
        summary: 'Take back a shipped order',
        states: { field: 'status', from: ['shipped'], to: ['returned'] },
      },
      refund: {
        summary: 'Refund a returned order',
        states: { field: 'status', from: ['returned'], to: ['refunding', 'refunded'] },
        enqueues: true,
      },
    },
    children: [{ resource: lineItems, by: 'orderId' }],
  },
  tableStorage({
    name: 'shop.order',
    // Only these fields have an index for sorting, because each index slows down every insert. If a request sorts by
    // another field, Postgres has to sort all rows that match the filters (docs/adr/015).
    indexes: { sort: ['number', 'status', 'total', 'createdAt'] },
    operations: {
      pay: async ({ item, enqueue }) => {
        await enqueue(sendReceipt, { orderId: item.id });
      },
      fulfil: async ({ item, enqueue }) => {
        const key = keyOfOrder(item.id);
        await enqueue(fulfilOrder, { orderId: item.id }, { correlate: key, unique: { key } });
      },
      cancel: async ({ item, body, transaction }) => {
        if (item.status === 'open') return { status: 'cancelled' as const };
        await transaction.query('insert into shop.cancellation (order_id, reason) values ($1, $2)', [
          item.id,
          body.reason ?? null,
        ]);
        return { status: 'cancellation-requested' as const };
      },
      refund: async ({ item, enqueue }) => {
        await enqueue(refundOrder, { orderId: item.id });
      },
    },
  }),
);
