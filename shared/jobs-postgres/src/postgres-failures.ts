import type { FailedJobsReader, Job, LatestFailedQuery } from '@longshore/jobs';
import type { Database } from './database.js';
import { type JobRow, toJob } from './job-row.js';
import type { QueueDirectory } from './queue-directory.js';
import { selectLatestFailed, selectLatestFailedOf } from './sql/failures.js';

/** Failed jobs, by the time at which they failed. */
export class PostgresFailures implements FailedJobsReader {
  readonly #database: Database;
  readonly #queues: QueueDirectory;

  constructor(database: Database, queues: QueueDirectory) {
    this.#database = database;
    this.#queues = queues;
  }

  async listLatestFailed({ queue, limit }: LatestFailedQuery): Promise<Job[]> {
    if (queue === undefined)
      return this.#toJobs(await this.#database.query<JobRow>(selectLatestFailed, [limit]));
    const [queueId] = await this.#queues.idsOf([queue]);
    if (queueId === undefined) return [];
    return this.#toJobs(await this.#database.query<JobRow>(selectLatestFailedOf, [limit, queueId]));
  }

  #toJobs(rows: readonly JobRow[]): Promise<Job[]> {
    return Promise.all(rows.map(async (row) => toJob(row, await this.#queues.nameOf(row.queue_id))));
  }
}
