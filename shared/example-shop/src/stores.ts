import { defineResource, readOnly, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { email, id, line, time } from './field-types.js';

const StoreCustomer = Type.Object({
  id,
  storeId: line(60),
  name: line(100),
  email,
  status: Type.Enum(['active', 'blocked']),
  cost: Type.Number({
    minimum: 0,
    description: 'What the customer has spent in this store.',
    examples: [120.5],
  }),
});

const customersOfStore = defineResource(
  {
    name: 'customers',
    singular: 'store-customer',
    description: 'Customers who have bought in a store.',
    item: StoreCustomer,
    filters: {
      name: 'partial',
      email: 'exact',
      status: 'exact',
      minCost: { field: 'cost', match: 'from' },
      maxCost: { field: 'cost', match: 'to' },
    },
    notAllowed: readOnly('A customer appears here after buying in the store: change it under /customers.'),
  },
  tableStorage({ name: 'shop.store_customer', view: true }),
);

export const stores = defineResource(
  {
    name: 'stores',
    description: 'The stores of the shop. A store with orders cannot be deleted (409).',
    item: Type.Object({
      id: Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 60, examples: ['berlin-mitte'] }),
      name: line(100),
      city: line(100),
      createdAt: time,
    }),
    serverSet: ['createdAt'],
    filters: { name: 'partial', city: 'exact' },
    children: [{ resource: customersOfStore, by: 'storeId' }],
  },
  tableStorage({ name: 'shop.store' }),
);
