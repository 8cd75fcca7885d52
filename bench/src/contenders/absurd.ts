import { readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Contender, Payload, RunStep, ServerSettings } from './contender.js';
import { importPeer } from './peer-module.js';

/** The part of Absurd's API that the benchmark uses. */
interface AbsurdModule {
  Absurd: new (options: object) => {
    createQueue(): Promise<void>;
    registerTask(
      options: { name: string },
      handler: (payload: Payload, context: { step: StepOfAbsurd }) => Promise<void>,
    ): void;
    spawn(name: string, payload: Payload): Promise<unknown>;
    startWorker(options: object): Promise<{ close(): Promise<void> }>;
  };
}

type StepOfAbsurd = (name: string, work: () => Promise<number>) => Promise<number>;

const queueName = 'bench';
const name = 'bench';

/** Number of concurrent calls that enqueue. Absurd has none for several tasks. */
const enqueuers = 10;

const ignoreErrors = (): void => undefined;

/** Returns the path of Absurd's SQL, from `ABSURD_SQL`; `undefined` if it is not set. Absurd's package lacks the SQL. */
export function absurdSql(): string | undefined {
  return process.env['ABSURD_SQL'];
}

export async function absurd(url: string): Promise<Contender> {
  const { Absurd } = await importPeer<AbsurdModule>('absurd-sdk');
  const connect = (max: number): pg.Pool => {
    const pool = new pg.Pool({ connectionString: url, max });
    pool.on('error', ignoreErrors);
    return pool;
  };
  const pool = connect(enqueuers);
  const count = async (sql: string): Promise<number> =>
    (await pool.query<{ rows: number }>(sql)).rows[0]?.rows ?? 0;
  const client = new Absurd({ db: pool, queueName });
  client.registerTask({ name }, async () => undefined);
  let worker: { close(): Promise<void> } | undefined;
  let workerPool: pg.Pool | undefined;

  const enqueue = async (payload: Payload): Promise<void> => void (await client.spawn(name, payload));
  /** @param settings `concurrency`: tasks at once; `pool`: connections */
  const start = async (
    onJob: (payload: Payload, step: RunStep) => Promise<void>,
    { concurrency = 24, pool: connections = 10 }: ServerSettings,
  ): Promise<void> => {
    workerPool = connect(connections);
    const app = new Absurd({ db: workerPool, queueName });
    app.registerTask({ name }, (payload, context) =>
      onJob(payload, (step, work) => context.step(step, async () => work())),
    );
    worker = await app.startWorker({ concurrency, pollInterval: 0.01 });
  };

  return {
    prepare: async () => {
      await pool.query(await readFile(absurdSql() ?? '', 'utf8'));
      await client.createQueue();
    },
    enqueueMany: async (payloads) => {
      const left = payloads.values();
      const call = async (): Promise<void> => {
        for (const payload of left) await enqueue(payload);
      };
      await Promise.all(Array.from({ length: enqueuers }, call));
    },
    enqueueOne: enqueue,
    startServer: (onJob, settings) => start(async (payload) => onJob(payload), settings),
    startStepServer: start,
    stopServer: async () => {
      await worker?.close();
      await workerPool?.end();
    },
    unfinished: () =>
      count(`select count(*)::integer as rows from absurd.t_${queueName} where state <> 'completed'`),
    storedSteps: () => count(`select count(*)::integer as rows from absurd.c_${queueName}`),
    close: () => pool.end(),
  };
}
