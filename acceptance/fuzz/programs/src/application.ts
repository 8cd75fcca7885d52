import { application as shop } from '@longshore/example-shop';
import { mischiefHandler } from './mischief.js';

/**
 * The example shop, whose resources the suite tries too, and a job that misbehaves. Without the packing of parcels: with the
 * weights of a fuzzer it computes for hours, as promised.
 */
export const application = {
  ...shop,
  handlers: [
    ...shop.handlers.filter(({ definition }) => definition.name !== 'pack-parcels'),
    mischiefHandler,
  ],
};
