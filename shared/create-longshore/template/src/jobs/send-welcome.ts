import { defineJob, handleJob } from 'longshore';
import Type from 'typebox';

/** The job's name and argument schema, shared by clients and servers. */
export const sendWelcome = defineJob({
  name: 'send-welcome',
  args: Type.Object({ email: Type.String({ minLength: 3 }) }),
});

/** Welcomes a customer and records the time. The update and the completion of the job commit together. */
export const sendWelcomeHandler = handleJob(sendWelcome, ({ args, log, transaction }) => {
  log.info(`Welcome, ${args.email}!`); // call your mail provider here
  return transaction(async (client) => {
    await client.query('update app.customer set welcomed_at = now() where email = $1', [args.email]);
    return { sentTo: args.email };
  });
});
