import {
  type AlertContent,
  type AlertMessage,
  alertRetryMs,
  type Alerts,
  type Clock,
  failuresKeptMs,
  IdSource,
  type IncidentChanges,
  storableFailure,
  targetsKeptMs,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { type Run, runOnConnection } from '../connection/run.js';
import { prepared } from '../connection/statement.js';

/** Stores messages about incidents in Postgres, for all processes that send them. */
export class PostgresAlerts implements Alerts {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #ids: IdSource;

  constructor({ database, reads }: { database: Database; reads: Database }, clock: Clock) {
    this.#database = database;
    this.#reads = reads;
    this.#ids = new IdSource(clock);
  }

  async register(targets: readonly string[]): Promise<void> {
    if (targets.length > 0) await this.#database.query(registerTargets, [targets]);
  }

  /** Stores messages for each registered target, withdraws others, and deletes old ones, in the caller's transaction. */
  async update(
    run: Run,
    { messages, reopened }: Pick<IncidentChanges, 'messages' | 'reopened'>,
    now: Date,
  ): Promise<void> {
    if (reopened.length > 0) await run(withdrawMessages, [reopened]);
    if (messages.length > 0) {
      const ids = messages.map(() => this.#ids.newId());
      const contents = messages.map(({ content }) => JSON.stringify(content));
      const dueAt = messages.map((message) => message.dueAt);
      const tell = messages.map((message) =>
        message.tell === undefined ? null : JSON.stringify(message.tell),
      );
      await run(insertMessages, [ids, contents, dueAt, now, targetsKeptMs, tell]);
    }
    await run(deleteOldMessages, [failuresKeptMs]);
  }

  async take(targets: readonly string[], limit: number, leaseMs: number): Promise<AlertMessage[]> {
    const rows = await this.#database.query<AlertMessageRow>(takeMessages, [targets, limit, leaseMs]);
    return rows.map(toMessage).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  async delivered({ id, target }: Pick<AlertMessage, 'id' | 'target'>): Promise<void> {
    await this.#database.query(deleteMessage, [id, target]);
  }

  async failed({ id, target }: Pick<AlertMessage, 'id' | 'target'>, error: string): Promise<void> {
    await this.#database.transaction(async (client) => {
      const run = runOnConnection(client);
      const [row] = (await run(lockMessage, [id, target])) as readonly {
        attempts: number;
        age: number;
      }[];
      if (row === undefined) return;
      await run(failMessage, [id, target, storableFailure(error), alertRetryMs(row.attempts + 1, row.age)]);
    });
  }

  async listFailures(limit: number): Promise<AlertMessage[]> {
    return (await this.#reads.query<AlertMessageRow>(selectFailures, [limit])).map(toMessage);
  }
}

function toMessage(row: AlertMessageRow): AlertMessage {
  const { id, target, content, attempts, error } = row;
  return { id, target, content, attempts, createdAt: row.created_at, nextAt: row.next_at, error };
}

export interface AlertMessageRow {
  id: string;
  target: string;
  content: AlertContent;
  attempts: number;
  created_at: Date;
  next_at: Date | null;
  error: string | null;
}

/** $1 targets. Registers targets, or notes that they are still used. */
export const registerTargets = prepared(
  'longshore-register-alert-targets',
  `
    insert into longshore.alert_target (target, registered_at)
    select target, clock_timestamp() from unnest($1::text[]) as target order by target
    on conflict (target) do update set registered_at = excluded.registered_at`,
);

/**
 * Parallel arrays: $1 ids, $2 contents, $3 when they are due, $6 JSON arrays of targets or null; $4 now, $5 maximum age of
 * a registration in milliseconds. Inserts each message once for each registered target in its array, or for all registered
 * targets if there is none.
 */
export const insertMessages = prepared(
  'longshore-insert-alert-messages',
  `
    insert into longshore.alert_message (id, target, content, created_at, next_at)
    with registered as materialized (
      select target from longshore.alert_target
      where registered_at > $4::timestamptz - $5::float8 * interval '1 millisecond'
    )
    select id, target, content, $4::timestamptz, due_at
    from unnest($1::uuid[], $2::jsonb[], $3::timestamptz[], $6::jsonb[]) as message (id, content, due_at, tell), registered
    where tell is null or jsonb_exists(tell, target)
      or not exists (select from registered as named where jsonb_exists(tell, named.target))`,
);

/** $1 incidents. Deletes the messages about the ends of incidents that have begun again. */
export const withdrawMessages = prepared(
  'longshore-withdraw-alert-messages',
  `
    delete from longshore.alert_message
    where content->>'type' = 'warning.ended' and (content->'incident'->>'id')::uuid = any($1::uuid[])`,
);

/** $1 maximum age in milliseconds. Deletes older messages, so that undeliverable ones do not accumulate. */
export const deleteOldMessages = prepared(
  'longshore-delete-old-alert-messages',
  `delete from longshore.alert_message where created_at < now() - $1::float8 * interval '1 millisecond'`,
);

/**
 * $1 targets, $2 limit, $3 lease in milliseconds. Leases messages that are due. Messages with fewer failed attempts
 * come first, so that retries to a dead webhook do not delay other messages.
 */
export const takeMessages = prepared(
  'longshore-take-alert-messages',
  `
    with due as materialized (
      select id, target from longshore.alert_message
      where target = any($1::text[]) and next_at <= now()
      order by attempts, id limit $2
      for update skip locked
    )
    update longshore.alert_message as message set next_at = now() + $3::float8 * interval '1 millisecond'
    from due where message.id = due.id and message.target = due.target
    returning message.*`,
);

/** $1 id, $2 target. */
export const deleteMessage = prepared(
  'longshore-delete-alert-message',
  'delete from longshore.alert_message where id = $1 and target = $2',
);

/**
 * $1 id, $2 target. Locks a message until the transaction ends. Returns the number of failed attempts, and the age in
 * milliseconds.
 */
export const lockMessage = prepared(
  'longshore-lock-alert-message',
  `
    select attempts, extract(epoch from clock_timestamp() - created_at)::float8 * 1000 as age
    from longshore.alert_message where id = $1 and target = $2 for update`,
);

/** $1 id, $2 target, $3 error, $4 milliseconds until the next attempt; null to give up. Records a failed attempt. */
export const failMessage = prepared(
  'longshore-fail-alert-message',
  `
    update longshore.alert_message
    set attempts = attempts + 1, error = $3, next_at = now() + $4::float8 * interval '1 millisecond'
    where id = $1 and target = $2`,
);

/** $1 limit. Selects messages with a failed attempt, newest first. */
export const selectFailures = prepared(
  'longshore-select-alert-failures',
  'select * from longshore.alert_message where error is not null order by id desc limit $1',
);
