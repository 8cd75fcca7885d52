import { defineJob, handleJob } from '@longshore/jobs';
import { defineApplication } from '@longshore/service/application';
import Type from 'typebox';
import { cancellations } from './cancellations.js';
import { cars } from './cars.js';
import { customers, groups, tickets } from './customers.js';
import { fulfilOrderHandler } from './jobs/fulfil-order.js';
import { everyNight, nightlyReportHandler } from './jobs/nightly-report.js';
import { packParcelsHandler } from './jobs/pack-parcels.js';
import { refundOrderHandler } from './jobs/refund-order.js';
import { sendReceiptHandler } from './jobs/send-receipt.js';
import { orders } from './orders.js';
import { seedTables } from './seed.js';
import { stores } from './stores.js';

export { seed } from './seed.js';

const greet = defineJob({
  name: 'greet',
  args: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }, { additionalProperties: false }),
});

/** The example application: a shop with stores, customers, orders and delivery cars. */
export const application = defineApplication({
  name: 'example-shop',
  createHandlers: ({ database, directory }) => [
    handleJob(greet, ({ args }) => ({ greeting: `Hello, ${args.name}!` })),
    packParcelsHandler,
    refundOrderHandler,
    fulfilOrderHandler(database),
    sendReceiptHandler(database, directory),
    nightlyReportHandler(database, directory),
  ],
  recurring: [everyNight],
  tables: {
    migrations: { directory: new URL('../migrations', import.meta.url), schema: 'shop' },
    resources: [stores, customers, groups, orders, cancellations, cars, tickets],
    seed: seedTables,
  },
});
