import { defineResource, readOnly, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line, nullable, time } from './field-types.js';
import { refundOrder } from './jobs/refund-order.js';

export const cancellations = defineResource(
  {
    name: 'cancellations',
    description: 'Requests to cancel a paid order; created by cancelling one.',
    item: Type.Object({
      id,
      orderId: id,
      reason: nullable(line(1000)),
      status: Type.Enum(['requested', 'approved', 'rejected']),
      createdAt: time,
    }),
    serverSet: ['id', 'orderId', 'reason', 'status', 'createdAt'],
    filters: { status: 'exact', orderId: 'exact' },
    notAllowed: {
      ...readOnly('A cancellation records what was requested and decided; approve or reject it.'),
      create: 'Cancelling a paid order creates its cancellation: PUT /orders/{id}/cancel.',
    },
    operations: {
      approve: {
        summary: 'Approve a cancellation and refund the order',
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
        await enqueue(refundOrder, { orderId: item.orderId });
      },
      reject: async ({ item, transaction }) => {
        await transaction.query("update shop.order set status = 'paid' where id = $1", [item.orderId]);
      },
    },
  }),
);
