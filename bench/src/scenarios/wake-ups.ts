import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, handleJob, JobClient, JobServer, silentLogger } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import type { Scenario } from '../bench.js';
import { readFigures, statisticsDelayMs } from '../store-figures.js';

const servers = 12;
const jobs = 20;
/** Time between two jobs, in milliseconds: longer than a job with one retry takes, so that each is a case of its own. */
const everyMs = 1_000;

const plain = defineJob({ name: 'plain' });
const failing = defineJob({ name: 'failing', maxAttempts: 2, retryDelay: [100] });

/**
 * Counts the transactions that a job causes in a fleet of idle servers, beyond its insert and what the servers commit
 * anyway. The jobs come from a client without a server.
 */
export const wakeUps: Scenario = {
  name: 'wake-ups',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const url = await bench.database.create();
    const fleet: { server: JobServer; storage: PostgresStorage }[] = [];
    const storage = new PostgresStorage({ url });
    await storage.open();
    const client = new JobClient(storage);
    try {
      for (let started = 0; started < servers; started++) fleet.push(await start(url));
      await pause(40_000); // servers poll more often at first
      const count = async (work: () => Promise<unknown>): Promise<number> => {
        await pause(statisticsDelayMs);
        const before = await readFigures(url);
        for (let done = 0; done < jobs; done++) {
          await work();
          await pause(everyMs);
        }
        await pause(statisticsDelayMs);
        return (await readFigures(url)).commits - before.commits;
      };
      const idle = await count(async () => undefined);
      const beyond = async (work: () => Promise<unknown>): Promise<number> =>
        (await count(work)) / jobs - idle / jobs - 1;
      const delayed = await beyond(() => client.enqueue(plain, {}, { delayMs: 3_600_000 }));
      const ready = await beyond(() => client.enqueue(plain, {}));
      const retried = await beyond(() => client.enqueue(failing, {}));
      const rows = [
        { name: 'idle, for each second', settings: '', figures: { transactions: idle / jobs } },
        { name: 'a job delayed by an hour', settings: '', figures: { transactions: delayed } },
        { name: 'a job', settings: '', figures: { transactions: ready } },
        { name: 'a job that fails and is retried once', settings: '', figures: { transactions: retried } },
      ];
      return {
        title: `Transactions that a job causes among ${servers} idle servers, beyond its insert`,
        rows,
        ratios: [
          { name: 'of a job delayed by an hour', value: delayed, target: { atMost: 3 } },
          { name: 'of a job with one retry', value: retried, target: { atMost: 12 } },
        ],
      };
    } finally {
      for (const { server, storage: own } of fleet) {
        await server.stop();
        await own.close();
      }
      await storage.close();
    }
  },
};

async function start(url: string): Promise<{ server: JobServer; storage: PostgresStorage }> {
  const storage = new PostgresStorage({ url });
  await storage.open();
  const fail = (): never => {
    throw new Error('on purpose');
  };
  const handlers = [handleJob(plain, () => undefined), handleJob(failing, fail)];
  const server = new JobServer({ storage, handlers, logger: silentLogger });
  await server.start();
  return { server, storage };
}
