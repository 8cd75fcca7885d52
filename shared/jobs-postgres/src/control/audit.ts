import {
  type AuditAmendment,
  type AuditEntry,
  type AuditListQuery,
  type AuditLog,
  type JsonValue,
  type NewAuditEntry,
  storableEntry,
  storableTarget,
} from '@longshore/jobs';
import type { Database } from '../connection/database.js';
import { amendAudit, type AuditRow, insertAudit, selectAudit } from './audit.sql.js';

/** What was done by hand. */
export class PostgresAuditLog implements AuditLog {
  readonly #database: Database;
  readonly #reads: Database;

  constructor(database: Database, reads: Database) {
    this.#database = database;
    this.#reads = reads;
  }

  async record(entry: NewAuditEntry): Promise<string> {
    const { who, action, target, filter, count } = storableEntry(entry);
    const values = [who, action, target, documentOf(filter), count];
    const [row] = await this.#database.query<{ id: string }>(insertAudit, values);
    if (row === undefined) throw new Error('The entry of the audit was not stored');
    return row.id;
  }

  async amend(id: string, { target, filter, count }: AuditAmendment): Promise<void> {
    await this.#database.query(amendAudit, [id, storableTarget(target), documentOf(filter), count]);
  }

  async list({ limit, after, who, action, target }: AuditListQuery): Promise<AuditEntry[]> {
    const rows = await this.#reads.query<AuditRow>(selectAudit, [
      limit,
      after ?? null,
      who ?? null,
      action ?? null,
      target ?? null,
    ]);
    return rows.map(({ count, ...entry }) => ({ ...entry, count: Number(count) }));
  }
}

function documentOf(filter: JsonValue): string | null {
  return filter === null ? null : JSON.stringify(filter);
}
