import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob, handleJob, type JobHandler } from '@longshore/jobs';
import Type, { type Static } from 'typebox';

const args = Type.Object({
  /** How long it takes. */
  ms: Type.Number({ minimum: 0 }),
  /** How many attempts fail. */
  failures: Type.Integer({ minimum: 0 }),
});

/** Faults cost attempts; here a job is given as many as it takes. */
const patience = { maxAttempts: 1_000, retryDelay: [200, 500] };

const plain = defineJob({ name: 'plain', queue: 'plain', args, ...patience });
const transactional = defineJob({ name: 'transactional', queue: 'transactional', args, ...patience });
/** So that its worker serves the queue; the jobs in it are transactional ones. */
const limited = defineJob({ name: 'limited', queue: 'limited', args, ...patience });

interface Database {
  query(sql: string, values: unknown[]): Promise<unknown>;
}

interface Attempt {
  readonly args: Static<typeof args>;
  readonly job: { readonly id: string; readonly name: string; readonly attempt: number };
}

function enter(database: Database, { job }: Attempt): Promise<unknown> {
  const sql = 'insert into ledger.effect (job_id, name, attempt) values ($1, $2, $3)';
  return database.query(sql, [job.id, job.name, job.attempt]);
}

async function work({ args, job }: Attempt): Promise<void> {
  await sleep(args.ms);
  if (job.attempt <= args.failures) throw new Error(`Attempt ${job.attempt} is to fail`);
}

/** Jobs whose handlers enter what they do in a ledger: after the work, or in the transaction that completes the job. */
export const application = {
  name: 'fault-ledger',
  handlers: [],
  tables: {
    migrations: { directory: new URL('../migrations', import.meta.url), schema: 'ledger' },
    resources: [],
    jobs: [plain, transactional, limited],
    createHandlers: ({ database }: { database: Database }): JobHandler[] => [
      handleJob(plain, async (attempt) => {
        await work(attempt);
        await enter(database, attempt);
      }),
      ...[transactional, limited].map((definition) =>
        handleJob(definition, async (attempt) =>
          attempt.transaction(async (client) => {
            await enter(client, attempt);
            await work(attempt);
          }),
        ),
      ),
    ],
  },
};
