import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line, time } from './field-types.js';
import { refundOrder } from './jobs/refund-order.js';

export const cancellations = defineResource(
  {
    name: 'cancellations',
    description: 'Requests to cancel a paid order; created by cancelling one.',
    item: Type.Object({
      id,
      orderId: id,
      reason: Type.Optional(line(1000)),
      status: Type.Enum(['requested', 'approved', 'rejected']),
      createdAt: time,
    }),
    serverSet: ['id', 'orderId', 'status', 'createdAt'],
    filters: { status: 'exact', orderId: 'exact' },
    sort: ['createdAt'],
    operations: {
      approve: {
        summary: 'Approve a cancellation: cancel and refund the order',
        states: { field: 'status', from: ['requested'], to: ['approved'] },
        enqueues: true,
      },
      reject: {
        summary: 'Reject a cancellation and keep the order',
        states: { field: 'status', from: ['requested'], to: ['rejected'] },
      },
    },
  },
  tableStorage({
    name: 'shop.cancellation',
    serves: ['list', 'get', 'operations'],
    operations: {
      approve: async ({ item, transaction, enqueue }) => {
        await transaction.query("update shop.order set status = 'cancelled' where id = $1", [item.orderId]);
        await enqueue(refundOrder.name, { orderId: item.orderId });
      },
      reject: async ({ item, transaction }) => {
        await transaction.query("update shop.order set status = 'paid' where id = $1", [item.orderId]);
      },
    },
  }),
);
