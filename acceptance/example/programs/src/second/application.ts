import { defineRecurringJob } from 'longshore';
import { defineApplication } from '@longshore/service/application';
import { handlers } from '../first/handlers.js';
import { nightlyReport } from '../first/jobs.js';
import { receiptHandler } from './receipt.js';

/** The second version: another receipt job, reports every six hours, and a lower limit for webhooks. */
export const application = defineApplication({
  name: 'desk',
  createHandlers: () => [...handlers, receiptHandler],
  recurring: [defineRecurringJob({ id: 'nightly-report', definition: nightlyReport, every: '6 h' })],
  queueSettings: { webhooks: { concurrencyLimit: 10 } },
  tables: {
    migrations: { directory: new URL('../../migrations', import.meta.url), schema: 'desk' },
    resources: [],
  },
});
