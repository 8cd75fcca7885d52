import { application as shop } from '@longshore/example-shop';
import { mischiefHandler } from './mischief.js';

/**
 * The example shop, whose resources the suite also tests, with a job that misbehaves. Leaves out the packing of
 * parcels, which could compute for hours.
 */
export const application: typeof shop = {
  ...shop,
  createHandlers: (services) => [
    ...shop.createHandlers(services).filter(({ definition }) => definition.name !== 'pack-parcels'),
    mischiefHandler,
  ],
};
