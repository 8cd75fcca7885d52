import pg from 'pg';
import type { Contender, Payload, ServerSettings } from './contender.js';
import { importPeer } from './peer-module.js';

/** The part of pg-boss's API that the benchmark uses. */
interface PgBossModule {
  PgBoss: new (options: object) => {
    on(event: 'error', listener: (error: unknown) => void): void;
    start(): Promise<unknown>;
    createQueue(name: string): Promise<void>;
    insert(name: string, jobs: readonly { data: Payload }[]): Promise<unknown>;
    send(name: string, data: Payload): Promise<unknown>;
    fetch(name: string, options: { batchSize: number }): Promise<{ id: string; data: Payload }[]>;
    complete(name: string, ids: string[]): Promise<unknown>;
    work(
      name: string,
      options: object,
      handler: (jobs: readonly { data: Payload }[]) => Promise<void>,
    ): Promise<unknown>;
    offWork(name: string): Promise<void>;
    stop(options: { graceful: boolean }): Promise<void>;
  };
}

const queue = 'bench';
const insertChunk = 5_000;
const fetchChunk = 1_000;

export async function pgBoss(url: string): Promise<Contender> {
  const { PgBoss } = await importPeer<PgBossModule>('pg-boss');
  const boss = new PgBoss({ connectionString: url, schedule: false });
  boss.on('error', (error) => {
    throw error;
  });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  let stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  let polls = false;

  const work = async (onJob: (payload: Payload) => void, { signal }: AbortController): Promise<void> => {
    while (!signal.aborted) {
      const jobs = await boss.fetch(queue, { batchSize: fetchChunk });
      for (const { data } of jobs) onJob(data);
      if (jobs.length > 0)
        await boss.complete(
          queue,
          jobs.map(({ id }) => id),
        );
    }
  };

  return {
    prepare: async () => {
      await boss.start();
      await boss.createQueue(queue);
    },
    enqueueMany: async (payloads) => {
      for (let start = 0; start < payloads.length; start += insertChunk) {
        const jobs = payloads.slice(start, start + insertChunk).map((data) => ({ data }));
        await boss.insert(queue, jobs);
      }
    },
    enqueueOne: async (payload) => {
      await boss.send(queue, payload);
    },
    startServer: async (onJob, { pollMs = 0, idle = 0 }: ServerSettings) => {
      stopping = new AbortController();
      polls = pollMs > 0 || idle > 0;
      if (!polls) loop = work(onJob, stopping);
      else
        await boss.work(
          queue,
          { ...(pollMs > 0 && { pollingIntervalSeconds: pollMs / 1_000 }), batchSize: fetchChunk },
          async (jobs) => {
            for (const { data } of jobs) onJob(data);
          },
        );
    },
    stopServer: async () => {
      stopping.abort();
      await loop;
      if (polls) await boss.offWork(queue);
    },
    unfinished: async () => {
      const { rows } = await pool.query<{ jobs: number }>(
        `select count(*)::integer as jobs from pgboss.job where name = $1 and state < 'completed'`,
        [queue],
      );
      return rows[0]?.jobs ?? 0;
    },
    close: async () => {
      await pool.end();
      await boss.stop({ graceful: false });
    },
  };
}
