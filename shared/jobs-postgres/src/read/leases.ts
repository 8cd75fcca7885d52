import { isId, type Job, type Lease, type Leases, type StalledLeaseQuery } from '@longshore/jobs';
import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../connection/queue-id-cache.js';
import { type LeaseRow, selectLease, selectStalledLeases, toLease } from './leases.sql.js';

/** What people see of leases. */
export class PostgresLeases implements Leases {
  readonly #database: Database;
  readonly #queues: QueueIdCache;

  constructor(database: Database, queues: QueueIdCache) {
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
