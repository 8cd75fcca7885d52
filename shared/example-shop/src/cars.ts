import { defineResource, tableStorage } from '@longshore/resources';
import Type from 'typebox';
import { id, line } from './field-types.js';

const drivers = defineResource(
  {
    name: 'drivers',
    description: 'The drivers of a car.',
    item: Type.Object({
      id,
      carId: id,
      name: line(100),
      status: Type.Enum(['active', 'on-leave'], { default: 'active' }),
    }),
    serverSet: ['id'],
    filters: { name: 'partial', status: 'exact' },
  },
  tableStorage({ name: 'shop.driver' }),
);

export const cars = defineResource(
  {
    name: 'cars',
    description: 'The delivery fleet. A car with drivers cannot be deleted (409).',
    item: Type.Object({
      id,
      name: line(100),
      plate: Type.String({ pattern: '^[A-Z0-9 -]{2,12}$', maxLength: 12, examples: ['B LS 1234'] }),
      colour: line(30),
      status: Type.Enum(['available', 'on-tour', 'in-repair'], { default: 'available' }),
    }),
    serverSet: ['id'],
    filters: { name: 'partial', colour: 'exact', status: 'exact' },
    children: [{ resource: drivers, by: 'carId' }],
  },
  tableStorage({ name: 'shop.car' }),
);
