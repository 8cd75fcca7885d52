import { application as shop } from '@longshore/example-shop';
import { mischiefHandler } from './mischief.js';

/**
 * The example shop, because the suite also tests its resources, with an additional job that misbehaves. Has no handler
 * for `pack-parcels`, which could compute for hours.
 */
export const application: typeof shop = {
  ...shop,
  createHandlers: (services) => [
    ...shop.createHandlers(services).filter(({ definition }) => definition.name !== 'pack-parcels'),
    mischiefHandler,
  ],
};
