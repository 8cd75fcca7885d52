import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line, time } from './field-types.js';
import { orders } from './orders.js';

export const customers = defineResource(
  {
    name: 'customers',
    description: 'People who buy.',
    item: Type.Object({
      id,
      name: line(100),
      email: Type.String({ format: 'email', maxLength: 254 }),
      status: Type.Enum(['active', 'blocked'], { default: 'active' }),
      createdAt: time,
    }),
    serverSet: ['id', 'createdAt'],
    filters: { name: 'partial', email: 'exact', status: 'exact' },
    sort: ['name', 'email', 'createdAt'],
    search: ['name'],
    children: [{ resource: orders, by: 'customerId' }],
  },
  tableStorage({ name: 'shop.customer' }),
);
