import { defineApplication } from '@longshore/service/application';
import { customers } from './customers.js';
import { countCustomersHandler, everyMorning } from './jobs/count-customers.js';
import { sendWelcomeHandler } from './jobs/send-welcome.js';
import { seed } from './seed.js';

/** The application that the services load. */
export const application = defineApplication({
  name: '{{name}}',
  createHandlers: ({ database }) => [sendWelcomeHandler, countCustomersHandler(database)],
  recurring: [everyMorning],
  tables: {
    migrations: { directory: new URL('../migrations', import.meta.url), schema: 'app' },
    resources: [customers],
    seed,
  },
});
