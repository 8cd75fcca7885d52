import { handleJob, type JobHandler } from 'longshore';
import * as jobs from './jobs.js';

/** The handlers that both versions of the application have. */
export const handlers: readonly JobHandler[] = [
  handleJob(jobs.callWebhook, ({ args }) => `${args.event} sent to ${args.customer}`),

  // One job for each line, and a callback that reports on all of them.
  handleJob(jobs.importPrices, async ({ args, enqueueBatch }) => {
    const { id } = await enqueueBatch({
      name: 'price import',
      jobs: args.lines.map((line) => ({ definition: jobs.importLine, args: { line } })),
      callback: { definition: jobs.summarizeImport },
      callbackWhen: 'onAny',
    });
    return id;
  }),
  handleJob(jobs.importLine, ({ args: { line } }) => {
    const cents = Number(line.split('=')[1]);
    if (!Number.isInteger(cents)) throw new Error(`"${line}" has no price`);
    return { cents };
  }),
  handleJob(jobs.summarizeImport, async (context) => {
    const batch = await context.batch();
    if (batch === null) return null;
    let cents = 0;
    for await (const result of batch.results(jobs.importLine)) cents += result.cents;
    const failures: string[] = [];
    for await (const { error } of batch.failedJobs()) failures.push(error?.message ?? '');
    return { lines: batch.total, cents, failures };
  }),

  handleJob(jobs.charge, ({ args }) => ({ payment: `payment of ${args.purchase}` })),
  handleJob(jobs.ship, async ({ args, parents, transaction }) => {
    const [charged] = await parents([jobs.charge]);
    if (args.purchase % 2 === 1) throw new Error('out of stock');
    return transaction(async (client) => {
      await client.query(`update desk.purchase set state = 'shipped' where id = $1`, [args.purchase]);
      return { shippedFor: charged.result?.payment };
    });
  }),
  handleJob(jobs.refund, ({ args, transaction }) =>
    transaction(async (client) => {
      await client.query(`update desk.purchase set state = 'refunded' where id = $1`, [args.purchase]);
    }),
  ),

  handleJob(jobs.nightlyReport, ({ log }) => log.info('reported')),
];

/** The receipt is stored and the job is done, both or neither; the webhook is called only then. */
export const receiptHandler = handleJob(jobs.sendReceipt, ({ args, enqueue, transaction }) =>
  transaction(async (client) => {
    await client.query('insert into desk.receipt values ($1, $2)', [args.purchase, args.email]);
    await enqueue(jobs.callWebhook, { customer: args.email, event: `receipt ${args.purchase}` });
  }),
);
