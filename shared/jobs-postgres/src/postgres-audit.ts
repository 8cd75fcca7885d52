import {
  type AuditEntry,
  type AuditListQuery,
  type AuditLog,
  type NewAuditEntry,
  storableEntry,
} from '@longshore/jobs';
import type { Database } from './database.js';
import { type AuditRow, insertAudit, selectAudit } from './sql/audit.js';

/** What was done by hand. */
export class PostgresAuditLog implements AuditLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async record(entry: NewAuditEntry): Promise<void> {
    const { who, action, target, filter, count } = storableEntry(entry);
    const document = filter === null ? null : JSON.stringify(filter);
    await this.#database.query(insertAudit, [who, action, target, document, count]);
  }

  async list({ limit, after }: AuditListQuery): Promise<AuditEntry[]> {
    const rows = await this.#database.query<AuditRow>(selectAudit, [limit, after ?? null]);
    return rows.map(({ count, ...entry }) => ({ ...entry, count: Number(count) }));
  }
}
