import { defineApplication } from '@longshore/service/application';
import { createHandlers } from './handlers.js';
import { everyNight } from './jobs/nightly-report.js';
import { resources } from './resources.js';
import { seedTables } from './seed.js';

export { seed } from './seed.js';

/** The example application: a shop with stores, customers, orders and delivery cars. */
export const application = defineApplication({
  name: 'example-shop',
  createHandlers,
  recurring: [everyNight],
  tables: {
    migrations: { directory: new URL('../migrations', import.meta.url), schema: 'shop' },
    resources,
    seed: seedTables,
  },
});
