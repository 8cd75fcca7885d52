import { defineApplication } from '@longshore/service/application';
import { createHandlers } from './handlers.js';
import { jobs } from './jobs.js';
import { greetHandler } from './jobs/greet.js';
import { packParcelsHandler } from './jobs/pack-parcels.js';
import { everyNight } from './jobs/nightly-report.js';
import { migrations } from './migrations.js';
import { resources } from './resources.js';
import { seedOnce } from './seed-once.js';

export { createHandlers, type ShopServices } from './handlers.js';
export { jobs } from './jobs.js';
export { migrations } from './migrations.js';
export { resources } from './resources.js';
export { seed } from './seed.js';

/** The example application: a shop and a fleet. */
export const application = defineApplication({
  name: 'example-shop',
  handlers: [greetHandler, packParcelsHandler],
  recurring: [everyNight],
  tables: { migrations, resources, jobs, createHandlers, seed: seedOnce },
});
