import type { Job } from '@longshore/jobs';
import { isId, type Lease, type Leases, type StalledLeaseQuery } from '@longshore/jobs/storage';
import type { Database } from './database.js';
import type { QueueDirectory } from './queue-directory.js';
import { type LeaseRow, selectLease, selectStalledLeases, toLease } from './sql/leases.js';

/** What people see of leases. */
export class PostgresLeases implements Leases {
  readonly #database: Database;
  readonly #queues: QueueDirectory;

  constructor(database: Database, queues: QueueDirectory) {
    this.#database = database;
    this.#queues = queues;
  }

  async find({ id, queue }: Pick<Job, 'id' | 'queue'>): Promise<Lease | null> {
    const [queueId] = await this.#queues.idsOf([queue]);
    if (queueId === undefined || !isId(id)) return null;
    const [row] = await this.#database.query<LeaseRow>(selectLease, [queueId, id]);
    return row === undefined ? null : toLease(row, queue);
  }

  async listStalled({ expiredForMs, limit }: StalledLeaseQuery): Promise<Lease[]> {
    const rows = await this.#database.query<LeaseRow>(selectStalledLeases, [expiredForMs, limit]);
    return Promise.all(rows.map(async (row) => toLease(row, await this.#queues.nameOf(row.queue_id))));
  }
}
