import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { email, id, line, nullable, time } from './field-types.js';
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
      email,
      status: Type.Enum(['active', 'blocked']),
    }),
    serverSet: ['groupId', 'name', 'email', 'status'],
    create: Type.Object({
      id: Type.String({ format: 'uuid', description: 'The ID of the customer to add.' }),
    }),
    filters: { name: 'partial', email: 'exact', status: 'exact' },
    calls: {
      create: {
        wording: {
          summary: 'Add a customer to a group',
          description:
            'Adds an existing customer to the group and returns the customer, or 409 if the customer is already a member. Send an array to add several at once: all or none.',
        },
      },
      delete: {
        wording: {
          summary: 'Remove a customer from a group',
          description: 'Removes the customer from the group. The customer is not deleted.',
        },
      },
      deleteMany: {
        wording: {
          summary: 'Remove customers from a group',
          description:
            'Removes the customers that match the filters from the group, or all of them if there is no filter. The customers are not deleted.',
        },
      },
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
