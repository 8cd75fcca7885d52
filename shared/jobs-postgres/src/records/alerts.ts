import {
  type Alert,
  alertRetryMs,
  type AlertMessage,
  type Alerts,
  diffAlerts,
  type Clock,
  storableFailure,
  failuresKeptMs,
  IdSource,
  type ObservedWarning,
  storableWarning,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { runOnConnection } from '../connection/run.js';
import * as sql from './alerts.sql.js';

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
    return (await this.#database.query(sql.takeTurn, [everyMs])).length > 0;
  }

  async observe(warnings: readonly ObservedWarning[], targets: readonly string[]): Promise<void> {
    const observed = warnings.map(storableWarning);
    await this.#database.transaction(async (client) => {
      const run = runOnConnection(client);
      const [turn] = (await run(sql.lockTurn, [])) as readonly { now: Date }[];
      if (turn === undefined) throw new Error('The row of alert_turn is missing');
      const alerts = ((await run(sql.selectAlerts, [])) as readonly sql.AlertRow[]).map(toAlert);
      const { begun, seen, ended, messages } = diffAlerts(alerts, observed, turn.now);
      const present = [...begun, ...seen];
      if (present.length > 0) await run(sql.upsertAlerts, [...columnsOf(present), turn.now]);
      if (ended.length > 0) await run(sql.deleteAlerts, [ended.map(({ key }) => key)]);
      if (messages.length > 0) {
        const ids = messages.map(() => this.#ids.newId());
        const contents = messages.map((content) => JSON.stringify(content));
        await run(sql.insertMessages, [ids, contents, targets, turn.now]);
      }
      await run(sql.deleteOldMessages, [failuresKeptMs]);
    });
  }

  async list(): Promise<Alert[]> {
    return (await this.#reads.query<sql.AlertRow>(sql.selectAlerts)).map(toAlert);
  }

  async take(targets: readonly string[], limit: number, leaseMs: number): Promise<AlertMessage[]> {
    const rows = await this.#database.query<sql.AlertMessageRow>(sql.takeMessages, [targets, limit, leaseMs]);
    return rows.map(toMessage).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  async delivered({ id, target }: Pick<AlertMessage, 'id' | 'target'>): Promise<void> {
    await this.#database.query(sql.deleteMessage, [id, target]);
  }

  async failed({ id, target }: Pick<AlertMessage, 'id' | 'target'>, error: string): Promise<void> {
    await this.#database.transaction(async (client) => {
      const run = runOnConnection(client);
      const [row] = (await run(sql.lockMessage, [id, target])) as readonly {
        attempts: number;
        age: number;
      }[];
      if (row === undefined) return;
      await run(sql.failMessage, [
        id,
        target,
        storableFailure(error),
        alertRetryMs(row.attempts + 1, row.age),
      ]);
    });
  }

  async listFailures(limit: number): Promise<AlertMessage[]> {
    return (await this.#reads.query<sql.AlertMessageRow>(sql.selectFailures, [limit])).map(toMessage);
  }
}

function toAlert({ seen_at: seenAt, ...alert }: sql.AlertRow): Alert {
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

function toMessage(row: sql.AlertMessageRow): AlertMessage {
  const { id, target, content, attempts, error } = row;
  return { id, target, content, attempts, createdAt: row.created_at, nextAt: row.next_at, error };
}
