import {
  type Alert,
  type AlertContent,
  type AlertMessage,
  alertRetryMs,
  type Alerts,
  type Clock,
  diffAlerts,
  failuresKeptMs,
  IdSource,
  type ObservedWarning,
  storableFailure,
  storableWarning,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { runOnConnection } from '../connection/run.js';
import { prepared } from '../connection/statement.js';

/** Stores alerts and alert messages in Postgres, for all processes that send them. */
export class PostgresAlerts implements Alerts {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #ids: IdSource;

  constructor({ database, reads }: { database: Database; reads: Database }, clock: Clock) {
    this.#database = database;
    this.#reads = reads;
    this.#ids = new IdSource(clock);
  }

  async reserveCheck(everyMs: number): Promise<boolean> {
    return (await this.#database.query(takeTurn, [everyMs])).length > 0;
  }

  async observe(warnings: readonly ObservedWarning[], targets: readonly string[]): Promise<void> {
    const observed = warnings.map(storableWarning);
    await this.#database.transaction(async (client) => {
      const run = runOnConnection(client);
      const [turn] = (await run(lockTurn, [])) as readonly { now: Date }[];
      if (turn === undefined) throw new Error('The row of alert_turn is missing');
      const alerts = ((await run(selectAlerts, [])) as readonly AlertRow[]).map(toAlert);
      const { begun, seen, ended, messages } = diffAlerts(alerts, observed, turn.now);
      const present = [...begun, ...seen];
      if (present.length > 0) await run(upsertAlerts, [...columnsOf(present), turn.now]);
      if (ended.length > 0) await run(deleteAlerts, [ended.map(({ key }) => key)]);
      if (messages.length > 0) {
        const ids = messages.map(() => this.#ids.newId());
        const contents = messages.map((content) => JSON.stringify(content));
        await run(insertMessages, [ids, contents, targets, turn.now]);
      }
      await run(deleteOldMessages, [failuresKeptMs]);
    });
  }

  async list(): Promise<Alert[]> {
    return (await this.#reads.query<AlertRow>(selectAlerts)).map(toAlert);
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

function toAlert({ seen_at: seenAt, ...alert }: AlertRow): Alert {
  return { ...alert, seenAt };
}

function columnsOf(alerts: readonly Alert[]): unknown[] {
  return [
    alerts.map(({ key }) => key),
    alerts.map(({ text }) => text),
    alerts.map(({ advice }) => advice),
    alerts.map(({ link }) => link),
    alerts.map(({ since }) => since),
    alerts.map(({ announced }) => announced),
  ];
}

function toMessage(row: AlertMessageRow): AlertMessage {
  const { id, target, content, attempts, error } = row;
  return { id, target, content, attempts, createdAt: row.created_at, nextAt: row.next_at, error };
}

export interface AlertRow {
  key: string;
  text: string;
  advice: string;
  link: string;
  since: Date;
  seen_at: Date;
  announced: boolean;
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

/**
 * $1 interval in milliseconds. Reserves the alert check for this process and returns a row. Returns no row if the check
 * has already been reserved within the interval.
 */
export const takeTurn = prepared(
  'longshore-take-alert-turn',
  `
    update longshore.alert_turn set taken_at = clock_timestamp()
    where taken_at <= clock_timestamp() - $1::float8 * interval '1 millisecond'
    returning single`,
);

/**
 * Locks the only row of `alert_turn` until the transaction ends, so that processes update the stored alerts one at a
 * time. Returns the current time.
 */
export const lockTurn = prepared(
  'longshore-lock-alert-turn',
  'select clock_timestamp() as now from longshore.alert_turn for update',
);

export const selectAlerts = prepared(
  'longshore-select-alerts',
  'select key, text, advice, link, since, seen_at, announced from longshore.alert order by since, key',
);

/**
 * Parallel arrays: $1 keys, $2 texts, $3 advice, $4 links, $5 start times, $6 announced; $7 now. Inserts or updates
 * alerts. Existing alerts keep `since` and `announced`.
 */
export const upsertAlerts = prepared(
  'longshore-upsert-alerts',
  `
    insert into longshore.alert (key, text, advice, link, since, seen_at, announced)
    select key, text, advice, link, since, $7, announced
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::boolean[])
      as alert (key, text, advice, link, since, announced)
    on conflict (key) do update
    set text = excluded.text, advice = excluded.advice, link = excluded.link, seen_at = excluded.seen_at`,
);

/** $1 keys. */
export const deleteAlerts = prepared(
  'longshore-delete-alerts',
  'delete from longshore.alert where key = any($1::text[])',
);

/** Parallel arrays: $1 ids, $2 contents; $3 targets; $4 now. Inserts each message once for each target. */
export const insertMessages = prepared(
  'longshore-insert-alert-messages',
  `
    insert into longshore.alert_message (id, target, content, created_at, next_at)
    select id, target, content, $4, $4
    from unnest($1::uuid[], $2::jsonb[]) as message (id, content), unnest($3::text[]) as target`,
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
