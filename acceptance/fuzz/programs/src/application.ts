import { application as shop } from '@longshore/example-shop';
import { mischiefHandler } from './mischief.js';

/**
 * The example shop, whose resources the suite also tests, and a job that misbehaves. Leaves out packing parcels, which would
 * compute for hours with the weights of a fuzzer.
 */
export const application: typeof shop = {
  ...shop,
  createHandlers: (services) => [
    ...shop.createHandlers(services).filter(({ definition }) => definition.name !== 'pack-parcels'),
    mischiefHandler,
  ],
};
