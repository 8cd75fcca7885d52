import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line, nullable } from './field-types.js';

const underCustomers = 'Change customers under /customers.';

const customersOfGroup = defineResource(
  {
    name: 'customers',
    singular: 'group-customer',
    description: 'Customers who belong to a group. Adding or removing a member does not change the customer.',
    item: Type.Object({
      id,
      groupId: id,
      name: line(100),
      email: Type.String({ format: 'email' }),
      status: Type.Enum(['active', 'blocked']),
    }),
    serverSet: ['groupId', 'name', 'email', 'status'],
    create: Type.Object({
      id: Type.String({ format: 'uuid', description: 'The ID of the customer to add.' }),
    }),
    filters: { name: 'partial', email: 'exact', status: 'exact' },
    calls: {
      create: { note: 'A customer who is already a member is 409.' },
      delete: { note: 'The customer remains.' },
      deleteMany: { note: 'The customers remain.' },
    },
    notAllowed: { replaceMany: underCustomers, replace: underCustomers, patch: underCustomers },
  },
  tableStorage({
    name: 'shop.group_customer',
    view: true,
    serves: ['list', 'get', 'create', 'createMany', 'delete', 'deleteMany'],
  }),
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
