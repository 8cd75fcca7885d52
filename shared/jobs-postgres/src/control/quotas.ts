import {
  admissionMs,
  checkQuota,
  type CreatedKind,
  type QuotaLimits,
  type Quotas,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import {
  countCreations,
  deleteQueueCreations,
  deleteStaleCreations,
  insertCreations,
  lockCreations,
  selectComing,
} from './quotas.sql.js';

/** Counts what callers have created. */
export class PostgresQuotas implements Quotas {
  readonly #database: Database;
  readonly #queues: QueueIdCache;

  constructor(database: Database, queues: QueueIdCache) {
    this.#database = database;
    this.#queues = queues;
  }

  async admit(
    kind: CreatedKind,
    items: readonly string[],
    caller: string,
    limits: QuotaLimits,
  ): Promise<void> {
    const given = [kind, [...items]];
    if ((await this.#database.query(selectComing, given)).length === 0) return;
    await this.#database.transaction(async (client) => {
      await client.query(lockCreations, [kind]);
      await client.query(deleteStaleCreations, [kind, admissionMs]);
      const { rows: coming } = await client.query<{ item: string }>(selectComing, given);
      const { rows: counts } = await client.query<{ by_caller: number; total: number }>(countCreations, [
        kind,
        caller,
      ]);
      const names = coming.map(({ item }) => item);
      const [{ by_caller: byCaller, total } = { by_caller: 0, total: 0 }] = counts;
      checkQuota(kind, names, { byCaller, total }, limits);
      await client.query(insertCreations, [kind, caller, names]);
    });
  }

  async defineQueues(queues: readonly string[]): Promise<void> {
    for (const queue of queues) await this.#queues.idOf(queue);
    await this.#database.query(deleteQueueCreations, [[...queues]]);
  }
}
