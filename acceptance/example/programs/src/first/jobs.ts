import { defineJob } from 'longshore';
import Type from 'typebox';

const Purchase = Type.Object({ purchase: Type.Integer() });

export const sendReceipt = defineJob({
  name: 'send-receipt',
  queue: 'mail',
  args: Type.Object({ purchase: Type.Integer(), email: Type.String() }),
});

/** Every customer's endpoint has a rate of its own. */
export const callWebhook = defineJob({
  name: 'call-webhook',
  queue: 'webhooks',
  args: Type.Object({ customer: Type.String(), event: Type.String() }),
  concurrency: { key: ({ customer }) => customer, rate: { jobs: 50, periodMs: 1_000, burst: 5 } },
});

export const importPrices = defineJob({
  name: 'import-prices',
  args: Type.Object({ lines: Type.Array(Type.String()) }),
});
export const importLine = defineJob({
  name: 'import-line',
  args: Type.Object({ line: Type.String() }),
  result: Type.Object({ cents: Type.Integer() }),
  maxAttempts: 1,
});
export const summarizeImport = defineJob({ name: 'summarize-import' });

/** A purchase is charged, then shipped; if it cannot be shipped, it is refunded. */
export const charge = defineJob({
  name: 'charge',
  args: Purchase,
  result: Type.Object({ payment: Type.String() }),
});
export const ship = defineJob({ name: 'ship', args: Purchase, maxAttempts: 1 });
export const refund = defineJob({ name: 'refund', args: Purchase });

export const nightlyReport = defineJob({ name: 'nightly-report' });
