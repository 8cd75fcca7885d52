import type { JsonValue } from '@longshore/jobs';
import {
  type AuditAmendment,
  type AuditEntry,
  type AuditListQuery,
  type AuditLog,
  type NewAuditEntry,
  storableEntry,
  storableTarget,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { prepared } from '../connection/statement.js';

/** The driver returns a bigint as text. */
export type AuditRow = Omit<AuditEntry, 'count'> & { count: string };

/** $1 who, $2 action, $3 target, $4 filter, $5 count. */
export const insertAudit = prepared(
  'longshore-insert-audit',
  `insert into longshore.audit (who, action, target, filter, count) values ($1, $2, $3, $4, $5) returning id`,
);

/** $1 id, $2 target, $3 filter, $4 count. */
export const amendAudit = prepared(
  'longshore-amend-audit',
  `update longshore.audit set target = $2, filter = $3, count = $4 where id = $1::bigint`,
);

/** $1 limit; nullable: $2 id to continue after, $3 who, $4 action, $5 target. */
export const selectAudit = prepared(
  'longshore-select-audit',
  `
    select id, at, who, action, target, filter, count from longshore.audit
    where id < coalesce($2::bigint, 9223372036854775807) and who = coalesce($3::text, who)
      and action = coalesce($4::text, action) and ($5::text is null or target = $5::text)
    order by id desc limit $1`,
);

export const deleteOldAudit = prepared(
  'longshore-delete-old-audit',
  `delete from longshore.audit where at < now() - interval '400 days'`,
);

/** Records and lists operators' actions. */
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
