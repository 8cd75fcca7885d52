import { defineResource, readOnly, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line, nullable } from './field-types.js';

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
    notAllowed: readOnly('The members of a group are customers: change those, under /customers.'),
  },
  tableStorage({ name: 'shop.group_customer', view: true }),
);

export const groups = defineResource(
  {
    name: 'groups',
    description: 'Groups of customers.',
    item: Type.Object({ id, name: line(100), description: nullable(line(1000)) }),
    serverSet: ['id'],
    filters: { name: 'partial' },
    children: [{ resource: customersOfGroup, by: 'groupId' }],
  },
  tableStorage({ name: 'shop.customer_group' }),
);
