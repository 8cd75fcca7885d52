import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line, nullable, time } from './field-types.js';

export const tickets = defineResource(
  {
    name: 'tickets',
    description: 'Questions and complaints.',
    item: Type.Object({
      id,
      customerId: nullable(id),
      subject: line(200),
      status: Type.Enum(['open', 'closed']),
      createdAt: time,
    }),
    serverSet: ['id', 'status', 'createdAt'],
    filters: { status: 'exact', customerId: 'exact' },
    operations: {
      close: { summary: 'Close a ticket', states: { field: 'status', from: ['open'], to: ['closed'] } },
      reopen: { summary: 'Reopen a ticket', states: { field: 'status', from: ['closed'], to: ['open'] } },
    },
  },
  tableStorage({ name: 'shop.ticket' }),
);
