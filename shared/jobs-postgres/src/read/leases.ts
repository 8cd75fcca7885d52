import type { Job } from '@longshore/jobs';
import { isId, type Lease, type Leases, type StalledLeaseQuery } from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { prepared } from '../connection/statement.js';

export interface LeaseRow {
  queue_id: number;
  id: string;
  server_id: string;
  attempt: number;
  lease_until: Date;
  locked: boolean;
}

/**
 * SQL condition: a transaction in progress has locked the row of `job`. The id of a transaction that locks a row is
 * stored in the row's `xmax`.
 */
const isLocked = `exists (select 1 from pg_locks where locktype = 'transactionid' and granted and transactionid = job.xmax)`;

/** $1 queue, $2 job. Returns the lease of a running job. */
export const selectLease = prepared(
  'longshore-select-lease',
  `
    select queue_id, id, server_id, attempt, lease_until, ${isLocked} as locked
    from longshore.job where queue_id = $1 and id = $2 and server_id is not null`,
);

/**
 * $1 minimum number of milliseconds since the lease expired, $2 limit. Selects expired leases of registered servers,
 * earliest expiry first. Leaves out jobs that their handlers' transactions have locked, because the leases of such jobs
 * cannot be renewed. Running jobs are near the head of the queue, and the counters contain their number. The scan
 * therefore reads few rows.
 */
export const selectStalledLeases = prepared(
  'longshore-select-stalled-leases',
  stalledLeases('', 'exists (select 1 from longshore.server where server.id = job.server_id)'),
  stalledLeases(
    'alive as materialized (select id from longshore.server),\n    ',
    'job.server_id in (select id from alive)',
  ),
);

/**
 * @param alive a CTE that precedes the others, followed by a comma
 * @param isServed SQL condition on a job: its server is registered
 */
function stalledLeases(alive: string, isServed: string): string {
  return `
    with ${alive}expired as materialized (
      select job.queue_id, job.id
      from (
        select queue_id as id, sum(jobs) as running from longshore.job_count where state = 'processing'
        group by queue_id having sum(jobs) > 0
      ) as queue cross join lateral (
        select queue_id, id, server_id, lease_until from longshore.job where queue_id = queue.id and server_id is not null
        order by priority, seq limit queue.running
      ) as job
      where job.lease_until < now() - $1::float8 * interval '1 millisecond'
        and ${isServed}
      order by job.lease_until limit $2
    )
    select job.queue_id, job.id, job.server_id, job.attempt, job.lease_until, false as locked
    from expired join longshore.job on job.queue_id = expired.queue_id and job.id = expired.id
    where job.server_id is not null and not ${isLocked}
    order by job.lease_until`;
}

export function toLease(row: LeaseRow, queue: string): Lease {
  return {
    jobId: row.id,
    queue,
    serverId: row.server_id,
    attempt: row.attempt,
    expiresAt: row.lease_until,
    locked: row.locked,
  };
}

/** Reads the leases of running jobs, so that operators can inspect them. */
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
