import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob, defineRecurringJob, handleJob, type JobHandler } from '@longshore/jobs';
import Type, { type Static } from 'typebox';

const args = Type.Object({
  /** Duration of the job, in milliseconds. */
  ms: Type.Number({ minimum: 0 }),
  /** Number of attempts that fail before one succeeds. */
  failures: Type.Integer({ minimum: 0 }),
  /**
   * Key shared by several jobs. At most `limit` of these jobs may run at once. For `unique` jobs, at most `limit` may
   * be unfinished.
   */
  key: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer()),
});

/** Allows many attempts, because faults use them up. */
const patience = { maxAttempts: 1_000, retryDelay: [200, 500] };

const plain = defineJob({ name: 'plain', queue: 'plain', args, ...patience });
const transactional = defineJob({ name: 'transactional', queue: 'transactional', args, ...patience });
/** A job in a queue with a concurrency limit and a rate limit. */
const limited = defineJob({ name: 'limited', queue: 'limited', args, ...patience });
const keyed = defineJob({ name: 'keyed', queue: 'keyed', args, ...patience });
const unique = defineJob({ name: 'unique', queue: 'unique', args, ...patience });
/** A job that ends as failed until operators have retried it often enough. */
const brittle = defineJob({ name: 'brittle', queue: 'brittle', args, maxAttempts: 1 });
/** A job that fails and starts again at once, many times, until an operator cancels it. */
const restless = defineJob({
  name: 'restless',
  queue: 'restless',
  args,
  maxAttempts: 1_000,
  retryDelay: [0],
});
/** A job that works in steps, and waits in between: for a time, for other steps, for a signal and for another job. */
const stepped = defineJob({ name: 'stepped', queue: 'stepped', args, ...patience });
/** The job that the recurring job enqueues. */
const tick = defineJob({ name: 'tick', queue: 'tick', args, ...patience });

const everyTwoSeconds = defineRecurringJob({
  id: 'tick',
  definition: tick,
  args: { ms: 5, failures: 0 },
  cron: '*/2 * * * * *',
  misfire: 'all',
  misfireLimit: 100,
  overlap: 'allow',
});

interface Database {
  query(sql: string, values: unknown[]): Promise<unknown>;
}

interface Attempt {
  readonly args: Static<typeof args>;
  readonly job: { readonly id: string; readonly name: string; readonly attempt: number };
}

function enter(database: Database, { args, job }: Attempt, together: number | null): Promise<unknown> {
  const sql =
    'insert into ledger.effect (job_id, name, attempt, together, allowed) values ($1, $2, $3, $4, $5)';
  return database.query(sql, [job.id, job.name, job.attempt, together, args.limit ?? null]);
}

/**
 * Counts the open transactions of jobs with this key, including the current one. Each transaction takes an id and then a
 * shared advisory lock, and the function counts these locks.
 *
 * Postgres releases a transaction's locks shortly after its end becomes visible, but its id at the same moment. The
 * function therefore does not count locks of sessions without a transaction id.
 */
async function openTogether(client: Database, { args: { key = '' } }: Attempt): Promise<number> {
  await client.query('select pg_current_xact_id()', []);
  await client.query('select pg_advisory_xact_lock_shared(77, hashtext($1))', [key]);
  const sql = `
    select count(*)::integer as number from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and classid = 77 and objid = (hashtext($1)::bigint & 4294967295) and granted
      and database = (select oid from pg_database where datname = current_database()) and backend_xid is not null`;
  return numberOf(await client.query(sql, [key]));
}

/** Counts the unfinished jobs with this unique key, including the current one. */
async function unfinishedTogether(client: Database, { args: { key = '' } }: Attempt): Promise<number> {
  const live = ['job', 'job_scheduled', 'job_blocked', 'job_awaiting'];
  const all = live.map(
    (table) => `select id from longshore.${table} where name = 'unique' and args ->> 'key' = $1`,
  );
  const found = await client.query(
    `select count(*)::integer as number from (${all.join(' union all ')}) as unfinished`,
    [key],
  );
  return numberOf(found);
}

function numberOf(result: unknown): number {
  return (result as { rows: { number: number }[] }).rows[0]?.number ?? 0;
}

/**
 * How long a stepped job waits for its signal, in milliseconds. With a key, an operator sends it, unless the response to the
 * request that enqueued the job was lost.
 */
const signalTimeoutMs = ({ args: { key } }: Attempt): number => (key === undefined ? 5_000 : 90_000);

function enterStep(
  database: Database,
  { job }: Attempt,
  step: string,
  transactional: boolean,
): Promise<unknown> {
  const sql = 'insert into ledger.step_effect (job_id, step, transactional) values ($1, $2, $3)';
  return database.query(sql, [job.id, step, transactional]);
}

async function work({ args, job }: Attempt): Promise<void> {
  await sleep(args.ms);
  if (job.attempt <= args.failures) throw new Error(`Attempt ${job.attempt} is to fail`);
}

/**
 * An application whose handlers record their effects in a ledger. Plain jobs write to the ledger after the work, and
 * restless ones before. All other jobs write in the transaction that completes the job.
 */
export const application = {
  name: 'fault-ledger',
  recurring: [everyTwoSeconds],
  tables: {
    migrations: { directory: new URL('../migrations', import.meta.url), schema: 'ledger' },
    resources: [],
  },
  createHandlers: ({ database }: { database: Database }): JobHandler[] => [
    handleJob(plain, async (attempt) => {
      attempt.log.info('At work');
      attempt.progress(50);
      await work(attempt);
      await enter(database, attempt, null);
    }),
    handleJob(restless, async (attempt) => {
      await enter(database, attempt, null);
      await work(attempt);
    }),
    ...[transactional, brittle, tick].map((definition) =>
      handleJob(definition, async (attempt) =>
        attempt.transaction(async (client) => {
          await enter(client, attempt, null);
          await work(attempt);
        }),
      ),
    ),
    ...[limited, keyed].map((definition) =>
      handleJob(definition, async (attempt) =>
        attempt.transaction(async (client) => {
          await enter(client, attempt, await openTogether(client, attempt));
          await work(attempt);
        }),
      ),
    ),
    handleJob(stepped, async (attempt) => {
      const { args: given, job, step, sleep: pause, waitFor, enqueueAndWait } = attempt;
      const book = (name: string): Promise<unknown> =>
        step(name, async ({ client }) => void (await enterStep(client, attempt, name, true)), {
          transaction: true,
        });
      await book('first');
      await pause('pause', { ms: given.ms });
      await Promise.all([
        waitFor('go', { timeoutMs: signalTimeoutMs(attempt) }),
        step('beside', async () => void (await enterStep(database, attempt, 'beside', false))),
        book('also beside'),
      ]);
      if (job.attempt <= given.failures) throw new Error(`Attempt ${job.attempt} is to fail`);
      await enqueueAndWait(transactional, { ms: 5, failures: 0 });
      await book('last');
      await attempt.transaction(async (client) => void (await enter(client, attempt, null)));
    }),
    handleJob(unique, async (attempt) =>
      attempt.transaction(async (client) => {
        await enter(client, attempt, await unfinishedTogether(client, attempt));
        await work(attempt);
      }),
    ),
  ],
};
