import { defineRecurringJob } from 'longshore';
import { defineApplication } from '@longshore/service/application';
import { handlers, receiptHandler } from './handlers.js';
import { nightlyReport } from './jobs.js';

/** The first version, which api, worker and dashboard run. */
export const application = defineApplication({
  name: 'desk',
  createHandlers: () => [...handlers, receiptHandler],
  recurring: [
    defineRecurringJob({
      id: 'nightly-report',
      definition: nightlyReport,
      cron: '30 2 * * *',
      timeZone: 'Europe/Berlin',
    }),
  ],
  queueSettings: { webhooks: { concurrencyLimit: 20 } },
  tables: {
    migrations: { directory: new URL('../../migrations', import.meta.url), schema: 'desk' },
    resources: [],
  },
});
