import { defineJob, handleJob } from 'longshore';
import Type from 'typebox';
import { callWebhook } from '../first/jobs.js';

/**
 * In the second version, the job has another name, `email` is called `to`, and there is a locale. Jobs of the first version
 * wait and are still enqueued while the servers are replaced.
 */
export const mailReceipt = defineJob({
  name: 'mail-receipt',
  aliases: ['send-receipt'],
  queue: 'mail',
  version: 2,
  args: Type.Object({
    purchase: Type.Integer(),
    to: Type.String(),
    locale: Type.String({ default: 'en' }),
  }),
  upgrade: (old) => {
    const { email, ...rest } = old as { purchase: number; email: string };
    return { ...rest, to: email, locale: 'en' };
  },
});

export const receiptHandler = handleJob(mailReceipt, ({ args, enqueue, transaction }) =>
  transaction(async (client) => {
    await client.query('insert into desk.receipt values ($1, $2)', [
      args.purchase,
      `${args.to} (${args.locale})`,
    ]);
    await enqueue(callWebhook, { customer: args.to, event: `receipt ${args.purchase}` });
  }),
);
