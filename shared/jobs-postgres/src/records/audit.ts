import type { TransactionClient } from '@longshore/jobs';
import {
  type ActionOptions,
  type AuditEntry,
  type AuditFilter,
  type AuditListQuery,
  type AuditLog,
  type JobCount,
  type NewAuditEntry,
  storableEntry,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { type Run, runOnConnection, runInCallersTransaction } from '../connection/run.js';
import { countOf, maxCounted } from '../queues/counters.js';
import { prepared, type Statement } from '../connection/statement.js';

/** A row of the audit log. The driver returns the bigint `count` as text. */
export type AuditRow = Omit<AuditEntry, 'count'> & { count: string };

/** $1 who, $2 action, $3 target, $4 filter, $5 count, $6 reason. */
export const insertAudit = prepared(
  'longshore-insert-audit',
  `insert into longshore.audit (who, action, target, filter, count, reason) values ($1, $2, $3, $4, $5, $6)`,
);

/**
 * One statement per order, without and with a target, so that each can read an index in its order: $1 limit, $2 number to
 * skip, $3 id to continue after, $4 who, $5 action, $6 from, $7 until, and the target. $3 to $7 can be null for no
 * restriction.
 */
export const selectAudit = {
  newest: selectBy('newest', { follows: '<', direction: 'desc', start: 'infinity' }),
  oldest: selectBy('oldest', { follows: '>', direction: 'asc', start: '-infinity' }),
};

interface Order {
  readonly follows: '<' | '>';
  readonly direction: 'asc' | 'desc';
  /** The time that all entries follow. */
  readonly start: string;
}

function selectBy(order: string, { follows, direction, start }: Order): OfTarget<Statement> {
  const select = (suffix: string, target: string): Statement =>
    prepared(
      `longshore-select-${order}-audit${suffix}`,
      `
      select id, at, who, action, target, filter, count, reason from longshore.audit
      where (at, id) ${follows} (
          case when $3::bigint is null then '${start}' else (select at from longshore.audit where id = $3) end, coalesce($3, 0))
        and ${matches(4)}${target}
      order by at ${direction}, id ${direction} limit $1 offset $2`,
    );
  return { all: select('', ''), of: select('-of', ' and target = $8') };
}

/** $1 limit; $2 to $6 as $4 to $8 of {@link selectAudit}. */
export const countSomeAudit: OfTarget<Statement> = {
  all: countSome('', ''),
  of: countSome('-of', ' and target = $6'),
};

function countSome(suffix: string, target: string): Statement {
  return prepared(
    `longshore-count-some-audit${suffix}`,
    `
    select count(*)::integer as counted from (
      select 1 from longshore.audit where ${matches(2)}${target} limit $1) as some_of_them`,
  );
}

/** A form for all targets, and one for a single target, whose value is the last parameter. */
interface OfTarget<Form> {
  readonly all: Form;
  readonly of: Form;
}

/** Returns the conditions on an entry. Their parameters, from this number on: who, action, from, until. */
function matches(first: number): string {
  return `who = coalesce($${first}::text, who) and action = coalesce($${first + 1}::text, action)
      and at >= coalesce($${first + 2}::timestamptz, '-infinity') and at < coalesce($${first + 3}::timestamptz, 'infinity')`;
}

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

  async record(entry: NewAuditEntry, transaction?: TransactionClient): Promise<void> {
    if (transaction === undefined) await this.#database.query(insertAudit, valuesOf(entry));
    else await recordEntry(runInCallersTransaction(transaction, this.#database.schema), entry);
  }

  async list({
    order = 'newest',
    limit,
    offset = 0,
    after,
    ...filter
  }: AuditListQuery): Promise<AuditEntry[]> {
    const values = [limit, offset, after ?? null, ...valuesOfFilter(filter)];
    const statement = selectAudit[order][formOf(filter)];
    const rows = await this.#reads.query<AuditRow>(statement, values);
    return rows.map(({ count, ...entry }) => ({ ...entry, count: Number(count) }));
  }

  async count(filter: AuditFilter): Promise<JobCount> {
    const values = [maxCounted + 1, ...valuesOfFilter(filter)];
    const rows = await this.#reads.query<{ counted: number }>(countSomeAudit[formOf(filter)], values);
    return countOf(rows[0]?.counted ?? 0);
  }
}

function formOf({ target }: AuditFilter): keyof OfTarget<unknown> {
  return target === undefined ? 'all' : 'of';
}

function valuesOfFilter({ who, action, target, from, until }: AuditFilter): unknown[] {
  const values = [who ?? null, action ?? null, from ?? null, until ?? null];
  return target === undefined ? values : [...values, target];
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
