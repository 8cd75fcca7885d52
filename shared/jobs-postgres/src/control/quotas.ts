import {
  admissionMs,
  checkQuota,
  type CreatedKind,
  type QuotaLimits,
  type Quotas,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { prepared } from '../connection/statement.js';
import { isServed } from '../queues/pause.sql.js';

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
    const parameters = [kind, [...items]];
    if ((await this.#database.query(selectComing, parameters)).length === 0) return;
    await this.#database.transaction(async (client) => {
      await client.query(lockCreations, [kind]);
      await client.query(deleteStaleCreations, [kind, admissionMs]);
      const { rows: coming } = await client.query<{ item: string }>(selectComing, parameters);
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

/** $1 kind. Lets only one transaction at a time admit things of this kind. */
export const lockCreations = prepared(
  'longshore-lock-creations',
  `select pg_advisory_xact_lock(longshore.lock_key('creation ' || $1::text))::text`,
);

/** SQL condition on `created`: it exists. */
const exists = `case created.kind
      when 'queue' then exists (select 1 from longshore.queue where queue.name = created.item and retired_at is null)
      when 'deployment' then exists (select 1 from longshore.deployment where deployment.id = created.item::uuid)
      else exists (select 1 from longshore.recurring_job where recurring_job.id = created.item)
    end`;

/** $1 kind, $2 how long an admitted thing counts although it does not exist, in milliseconds. */
export const deleteStaleCreations = prepared(
  'longshore-delete-stale-creations',
  `
    delete from longshore.creation as created
    where kind = $1 and admitted_at < now() - $2::float8 * interval '1 millisecond' and not ${exists}`,
);

/** $1 kind, $2 names or ids. Returns those that neither exist nor have been admitted. */
export const selectComing = prepared(
  'longshore-select-coming-creations',
  `
    select item from (select distinct $1::text as kind, item from unnest($2::text[]) as item) as created
    where not ${exists}
      and not exists (select 1 from longshore.creation where creation.kind = created.kind and creation.item = created.item)
    order by item`,
);

/** $1 kind, $2 caller. Counts what callers have created and what has been admitted. Leaves out queues that are consumed. */
export const countCreations = prepared(
  'longshore-count-creations',
  `
    select count(*) filter (where creator = $2)::integer as by_caller, count(*)::integer as total
    from longshore.creation where kind = $1
      and (kind <> 'queue' or not exists (select 1 from longshore.queue where queue.name = creation.item and ${isServed}))`,
);

/** $1 kind, $2 caller, $3 names or ids. */
export const insertCreations = prepared(
  'longshore-insert-creations',
  `
    insert into longshore.creation (kind, item, creator)
    select $1, item, $2 from unnest($3::text[]) as item
    on conflict (kind, item) do nothing`,
);

/** $1 queues. They no longer count towards a quota. */
export const deleteQueueCreations = prepared(
  'longshore-delete-queue-creations',
  `delete from longshore.creation where kind = 'queue' and item = any($1::text[])`,
);
