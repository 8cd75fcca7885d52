import { defineJob, JobClient, type JobState } from '@longshore/jobs';
import type { Claim, Outcome, SetAsideItem, SetAsideRole } from '@longshore/jobs/storage';
import { patientStorage, type TestDatabase } from '@longshore/test-support';
import { PostgresStorage } from '../../src/index.js';
import { createStoreDatabase } from './store-database.js';

export const done: Outcome = { kind: 'done', result: 'null' };

/** Arguments that make a job unwritable in the tables that were passed to `rejectPoison`. */
export const poison = { poison: true };

export const work = defineJob({ name: 'work', queue: 'work' });

/** Returns the time ten years before a time, which is the longest delay of a job. */
export function tenYearsBefore(time: Date | null | undefined): Date {
  return new Date((time?.getTime() ?? Number.NaN) - 315_360_000_000);
}

/** A storage on a new database, with helpers for tests of jobs that cannot be written. */
export class PoisonedStore {
  readonly database: TestDatabase;
  readonly storage: PostgresStorage;
  readonly client: JobClient;

  private constructor(database: TestDatabase, storage: PostgresStorage) {
    this.database = database;
    this.storage = storage;
    this.client = new JobClient(storage);
  }

  static async open(): Promise<PoisonedStore> {
    const database = await createStoreDatabase();
    const storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    return new PoisonedStore(database, storage);
  }

  async close(): Promise<void> {
    await this.storage.close();
    await this.database.drop();
  }

  readonly enqueue = async (
    args: object = {},
    options: Parameters<JobClient['enqueue']>[2] = {},
  ): Promise<string> => (await this.client.enqueue(work, args, options)).id;

  readonly stateOf = async (id: string): Promise<JobState | undefined> =>
    (await this.storage.jobs.find(id))?.state;

  readonly setAside = async (role: SetAsideRole): Promise<SetAsideItem[]> =>
    (await this.storage.setAside.list({ limit: 100 })).filter((item) => item.role === role);

  readonly settle = async (): Promise<void> => {
    let quiet = 0;
    while (quiet < 3) quiet = (await this.storage.maintenance.resolveDependencies(500)) === 0 ? quiet + 1 : 0;
  };

  readonly claim = async (limit = 100): Promise<Claim[]> => {
    const { id: serverId } = await this.storage.servers.register({
      host: 'x',
      pid: 1,
      queues: ['work'],
      concurrency: 1,
      timeoutMs: 3_600_000,
    });
    const jobs = await this.storage.claims.claim({ serverId, queue: 'work', limit, leaseMs: 3_600_000 });
    return jobs.map((job) => job.claim);
  };

  /** Retries up to 100 items that were set aside. */
  readonly tryAgain = async (): Promise<void> => {
    for (const { id } of await this.storage.setAside.list({ limit: 100 }))
      await this.storage.setAside.retry(id);
  };
}
