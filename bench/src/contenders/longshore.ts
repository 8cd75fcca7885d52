import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import { connected } from '../database.js';
import type { Contender, Payload, ServerSettings } from './contender.js';

const job = defineJob({ name: 'bench' });

export async function longshore(url: string): Promise<Contender> {
  const storage = new PostgresStorage({ url });
  const client = new JobClient(storage);
  let server: JobServer | undefined;
  let isOpen = true;
  const idle: { readonly server: JobServer; readonly storage: PostgresStorage }[] = [];

  return {
    prepare: () => storage.open(),
    enqueueMany: async (payloads) => {
      await client.enqueueMany(payloads.map((args) => ({ definition: job, args })));
    },
    enqueueOne: async (payload) => {
      await client.enqueue(job, payload);
    },
    startServer: async (onJob, { concurrency = 10 }: ServerSettings) => {
      const handler = handleJob(job, ({ args }) => onJob(args as unknown as Payload));
      server = new JobServer({ storage, handlers: [handler], concurrency });
      await server.start();
    },
    startStepServer: async (onJob, { concurrency = 24 }) => {
      const handler = handleJob(job, ({ args, step }) => onJob(args as unknown as Payload, step));
      server = new JobServer({ storage, handlers: [handler], concurrency });
      await server.start();
    },
    storedSteps: () =>
      connected(url, async (connection) => {
        const { rows } = await connection.query<{ steps: number }>(
          'select count(*)::integer as steps from longshore.job_step where finished_at is not null',
        );
        return rows[0]?.steps ?? 0;
      }),
    startIdle: async (servers, queues) => {
      const names = Array.from({ length: queues }, (_, index) => `queue-${index}`);
      for (let started = 0; started < servers; started++) {
        const own = new PostgresStorage({ url });
        await own.open();
        const one = new JobServer({
          storage: own,
          handlers: [handleJob(job, () => undefined)],
          queues: names,
        });
        await one.start();
        idle.push({ server: one, storage: own });
      }
      isOpen = false;
      await storage.close(); // so that only connections of the idle servers are counted
    },
    stopServer: async () => {
      await server?.stop();
    },
    unfinished: async () => {
      const { enqueued, processing } = await storage.jobs.stateCounts();
      return enqueued + processing;
    },
    close: async () => {
      await Promise.all(idle.map((one) => one.server.stop().then(() => one.storage.close())));
      if (isOpen) await storage.close();
    },
  };
}
