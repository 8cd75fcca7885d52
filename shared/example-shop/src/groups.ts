import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line } from './field-types.js';

const customersOfGroup = defineResource(
  {
    name: 'customers',
    singular: 'group-customer',
    description: 'Customers who belong to a group.',
    item: Type.Object({
      id,
      groupId: id,
      name: line(100),
      email: Type.String({ format: 'email' }),
      status: Type.Enum(['active', 'blocked']),
    }),
    filters: { name: 'partial', email: 'exact', status: 'exact' },
    sort: ['name'],
  },
  tableStorage({ name: 'shop.group_customer', view: true }),
);

export const groups = defineResource(
  {
    name: 'groups',
    description: 'Groups of customers.',
    item: Type.Object({ id, name: line(100), description: Type.Optional(line(1000)) }),
    serverSet: ['id'],
    filters: { name: 'partial' },
    sort: ['name'],
    children: [{ resource: customersOfGroup, by: 'groupId' }],
  },
  tableStorage({ name: 'shop.customer_group' }),
);
