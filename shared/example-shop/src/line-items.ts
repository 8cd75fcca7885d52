import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line, money } from './field-types.js';

export const lineItems = defineResource(
  {
    name: 'lineitems',
    singular: 'line-item',
    description: 'The items of an order, which make up its total.',
    item: Type.Object({
      id,
      orderId: id,
      product: line(200),
      quantity: Type.Integer({ minimum: 1, maximum: 10_000 }),
      price: money,
    }),
    serverSet: ['id'],
    filters: { product: 'partial' },
  },
  tableStorage({ name: 'shop.line_item' }),
);
