import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { PostgresStorage } from '@longshore/jobs-postgres';
import type { Contender, Payload, ServerSettings } from './contender.js';

const job = defineJob({ name: 'bench' });

export async function longshore(url: string): Promise<Contender> {
  const storage = new PostgresStorage({ url });
  const client = new JobClient(storage);
  let server: JobServer | undefined;

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
    stopServer: async () => {
      await server?.stop();
    },
    unfinished: async () => {
      const { enqueued, processing } = await storage.jobs.stateCounts();
      return enqueued + processing;
    },
    close: () => storage.close(),
  };
}
