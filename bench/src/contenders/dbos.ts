import pg from 'pg';
import type { Contender, Payload, RunStep, ServerSettings } from './contender.js';
import { importPeer } from './peer-module.js';

/** The part of DBOS's API that the benchmark uses. */
interface Dbos {
  DBOS: {
    setConfig(config: object): void;
    migrate(url: string): Promise<void>;
    launch(): Promise<void>;
    shutdown(options: { workflowCompletionTimeoutMS: number }): Promise<void>;
    registerWorkflow(work: (payload: Payload) => Promise<void>, options: { name: string }): unknown;
    registerQueue(name: string, options: object): Promise<unknown>;
    runStep(work: () => Promise<number>, options: { name: string }): Promise<number>;
  };
  DBOSClient: {
    create(options: object): Promise<{
      enqueue(options: object, payload: Payload): Promise<unknown>;
      destroy(): Promise<void>;
    }>;
  };
}

const application = 'bench';
const queueName = 'bench';
const workflowName = 'bench';

/** Number of concurrent calls that enqueue. DBOS's client has none for several workflows. */
const enqueuers = 10;

const silent = (): void => undefined;
const logger = { info: silent, debug: silent, warn: silent, error: console.error };

export async function dbos(url: string): Promise<Contender> {
  const { DBOS, DBOSClient } = await importPeer<Dbos>('@dbos-inc/dbos-sdk');
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const count = async (sql: string): Promise<number> =>
    (await pool.query<{ rows: number }>(sql)).rows[0]?.rows ?? 0;
  const runStep: RunStep = (name, work) => DBOS.runStep(async () => work(), { name });
  let onWorkflow: (payload: Payload) => Promise<void> = async () => undefined;
  DBOS.registerWorkflow((payload) => onWorkflow(payload), { name: workflowName });
  let client: Awaited<ReturnType<Dbos['DBOSClient']['create']>> | undefined;

  const enqueue = async (payload: Payload): Promise<void> => {
    await client?.enqueue({ queueName, workflowName }, payload);
  };
  /** @param settings `concurrency`: of the worker; `pool`: connections; `pollMs`: shortest time between two polls */
  const start = async (
    onJob: (payload: Payload, step: RunStep) => Promise<void>,
    { concurrency = 24, pool: systemDatabasePoolSize = 10, pollMs = 10 }: ServerSettings,
  ): Promise<void> => {
    onWorkflow = (payload) => onJob(payload, runStep);
    DBOS.setConfig({ name: application, systemDatabaseUrl: url, systemDatabasePoolSize, logger });
    await DBOS.launch();
    await DBOS.registerQueue(queueName, {
      workerConcurrency: concurrency,
      minPollingIntervalMs: pollMs,
      onConflict: 'always_update',
    });
  };

  return {
    prepare: async () => {
      await DBOS.migrate(url);
      client = await DBOSClient.create({
        systemDatabaseUrl: url,
        applicationName: application,
        systemDatabasePoolSize: enqueuers,
        logger,
      });
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
    stopServer: () => DBOS.shutdown({ workflowCompletionTimeoutMS: 10_000 }),
    unfinished: () =>
      count(`select count(*)::integer as rows from dbos.workflow_status where status <> 'SUCCESS'`),
    storedSteps: () => count('select count(*)::integer as rows from dbos.operation_outputs'),
    close: async () => {
      await client?.destroy();
      await pool.end();
    },
  };
}
