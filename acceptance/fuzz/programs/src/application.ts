import { application as shop } from '@longshore/example-shop';
import { mischiefHandler } from './mischief.js';

/**
 * The example shop plus a job that misbehaves. Omits the handler of `pack-parcels`, because that job could compute for
 * hours.
 */
export const application: typeof shop = {
  ...shop,
  createHandlers: (services) => [
    ...shop.createHandlers(services).filter(({ definition }) => definition.name !== 'pack-parcels'),
    mischiefHandler,
  ],
};
