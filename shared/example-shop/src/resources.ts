import type { Resource } from '@longshore/resources';
import { cancellations } from './cancellations.js';
import { cars } from './cars.js';
import { customers } from './customers.js';
import { groups } from './groups.js';
import { orders } from './orders.js';
import { stores } from './stores.js';
import { tickets } from './tickets.js';

/** The top-level resources of the shop's API. */
export const resources: readonly Resource[] = [
  stores,
  customers,
  groups,
  orders,
  cancellations,
  cars,
  tickets,
];
