import { defineJob, handleJob } from 'longshore';
import Type from 'typebox';

/** The job's name and the schema of its arguments, which clients and servers share. */
export const sendWelcome = defineJob({
  name: 'send-welcome',
  args: Type.Object({ email: Type.String({ minLength: 3 }) }),
});

/** Welcomes a customer exactly once: the update and the completion of the job commit together. */
export const sendWelcomeHandler = handleJob(sendWelcome, ({ args, log, transaction }) => {
  log.info(`Welcome, ${args.email}!`); // call your mail provider here
  return transaction(async (client) => {
    await client.query('update app.customer set welcomed_at = now() where email = $1', [args.email]);
    return { sentTo: args.email };
  });
});
