import {
  type ActionOptions,
  type AuditEntry,
  type AuditListQuery,
  type AuditLog,
  type NewAuditEntry,
  storableEntry,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { type Run, runOnConnection, runInCallersTransaction } from '../connection/run.js';
import { prepared } from '../connection/statement.js';

/** A row of the audit log. The driver returns the bigint `count` as text. */
export type AuditRow = Omit<AuditEntry, 'count'> & { count: string };

/** $1 who, $2 action, $3 target, $4 filter, $5 count, $6 reason. */
export const insertAudit = prepared(
  'longshore-insert-audit',
  `insert into longshore.audit (who, action, target, filter, count, reason) values ($1, $2, $3, $4, $5, $6)`,
);

/**
 * $1 limit, $2 id to continue after, $3 who, $4 action, $5 target. $2 to $5 can be null for no restriction. Returns the
 * newest entries first.
 */
export const selectAudit = prepared(
  'longshore-select-audit',
  `
    select id, at, who, action, target, filter, count, reason from longshore.audit
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

  async record(entry: NewAuditEntry): Promise<void> {
    await this.#database.query(insertAudit, valuesOf(entry));
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

/** Stores the audit entry for an action with this result; does nothing if the caller wants no entry. */
export type RecordResult<Result> = (result: Result) => Promise<void>;

/**
 * Carries out an operator's action in the caller's transaction, or in a new one if the caller has none.
 *
 * @param act carries out the action; must call `record` with the result before it resolves
 */
export function inTransaction<Result, Returned>(
  database: Database,
  options: ActionOptions<Result>,
  act: (run: Run, record: RecordResult<Result>) => Promise<Returned>,
): Promise<Returned> {
  const { transaction } = options;
  const on = (run: Run): Promise<Returned> => act(run, recordWith(run, options));
  if (transaction !== undefined) return on(runInCallersTransaction(transaction, database.schema));
  return database.transaction((client) => on(runOnConnection(client)));
}

export function recordEntry(run: Run, entry: NewAuditEntry): Promise<unknown> {
  return run(insertAudit, valuesOf(entry));
}

export function recordWith<Result>(run: Run, { audit }: ActionOptions<Result>): RecordResult<Result> {
  return async (result) => {
    const entry = audit?.(result) ?? null;
    if (entry !== null) await recordEntry(run, entry);
  };
}

function valuesOf(entry: NewAuditEntry): unknown[] {
  const { who, action, target, filter, count, reason } = storableEntry(entry);
  return [who, action, target, filter === null ? null : JSON.stringify(filter), count, reason];
}
