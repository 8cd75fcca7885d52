import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { email, id, line, time } from './field-types.js';
import { orders } from './orders.js';

export const customers = defineResource(
  {
    name: 'customers',
    description: 'People who buy. A customer with orders cannot be deleted (409).',
    item: Type.Object({
      id,
      name: line(100),
      email,
      status: Type.Enum(['active', 'blocked'], { default: 'active' }),
      createdAt: time,
    }),
    serverSet: ['id', 'createdAt'],
    filters: { name: 'partial', email: 'exact', status: 'exact' },
    children: [{ resource: orders, by: 'customerId' }],
  },
  tableStorage({ name: 'shop.customer' }),
);
