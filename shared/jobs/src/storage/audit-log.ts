import { bounds } from '../job/bounds.js';
import type { JsonValue } from '../job/job.js';
import { storable } from '../job/storable.js';
import type { JobCount } from './job-reader.js';
import type { TransactionClient } from './transaction.js';

/** A record of an operator's action or of an automatic action, such as the end of a pause. */
export interface AuditEntry {
  /** A decimal number as a string; higher for later entries. */
  id: string;
  /** When the entry was recorded, by the storage's clock. */
  at: Date;
  /** The user's name; `Longshore` for an automatic action. At most 200 characters. */
  who: string;
  /** The kind of target, a slash, and the action, such as `jobs/retry` or `queues/pause`. */
  action: string;
  /** The id or name of the target; `null` if the action applied to everything that matches a filter. */
  target: string | null;
  /** The filter and other details; `null` if there are none. The program that records the entry chooses the format. */
  filter: JsonValue;
  /** Number of jobs or other targets affected. */
  count: number;
  /** The reason that the user gave; `null` if there is none. */
  reason: string | null;
}

/**
 * An audit entry to store. Texts are truncated: `who` to 200 characters, `target` to 1000, `reason` to 500. `reason` is
 * `null` by default.
 */
export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at' | 'reason'> & { reason?: string | null };

/** Conditions on audit entries; all must hold. */
export interface AuditFilter {
  /** Only entries recorded at this time or later. */
  readonly from?: Date;
  /** Only entries recorded before this time. */
  readonly until?: Date;
  /** Only entries with exactly this `who`. */
  readonly who?: string;
  readonly action?: string;
  /** Only entries with exactly this `target`. */
  readonly target?: string;
}

export interface AuditListQuery extends AuditFilter {
  /** Which entries come first; `newest` by default. */
  readonly order?: 'newest' | 'oldest';
  readonly limit: number;
  /** Number of entries to skip; 0 by default. */
  readonly offset?: number;
  /** Only entries that follow the entry with this id in the chosen order. */
  readonly after?: string;
}

/**
 * Options common to all operator actions.
 *
 * @typeParam Result the result of the action
 */
export interface ActionOptions<Result> {
  /** The caller's transaction, in which the action runs. The memory storage throws a `TypeError` if it is set. */
  readonly transaction?: TransactionClient | undefined;
  /**
   * Returns the audit entry for the action; `null` to store none. The entry is stored in the same transaction as the
   * change.
   *
   * The function receives the action's result. If the result contains the target, it shows the target as it was before
   * the action. The function is also called if the action changed nothing or was refused. If the transaction is
   * retried, the function is called again. If the function throws, or the entry cannot be stored, nothing changes and
   * the action rejects with that error.
   */
  readonly audit?: ((result: Result) => NewAuditEntry | null) | undefined;
}

/**
 * The log of operators' actions and automatic actions. An action and its entry are stored in one transaction. An action
 * that needs several transactions stores its entry in the first. The Postgres storage keeps entries for 400 days: a
 * year plus time for an investigation.
 */
export interface AuditLog {
  /**
   * Stores an entry. Resolves once the entry is durable.
   *
   * @param transaction the caller's transaction; the entry is then durable once it has committed. The memory storage stores
   *   the entry at once
   */
  record(entry: NewAuditEntry, transaction?: TransactionClient): Promise<void>;
  /** Lists the entries that match the query; newest first, unless it says otherwise. */
  list(query: AuditListQuery): Promise<AuditEntry[]>;
  /** Counts the entries that match. May stop counting at 10,000; the count is then marked as inexact. */
  count(filter: AuditFilter): Promise<JobCount>;
}

const maxWho = 200;
const maxTarget = 1_000;

/** Returns the entry with storable texts: replaces characters that Postgres rejects, and truncates long texts. */
export function storableEntry({
  who,
  target,
  reason = null,
  ...entry
}: NewAuditEntry): Required<NewAuditEntry> {
  return {
    ...entry,
    who: storable(who, maxWho),
    target: target === null ? null : storable(target, maxTarget),
    reason: storableReason(reason),
  };
}

/** Returns a reason as it is stored: like the texts of an entry; `null` if it is empty or there is none. */
export function storableReason(reason: string | null | undefined): string | null {
  return reason === null || reason === undefined || reason === ''
    ? null
    : storable(reason, bounds.reasonLength.max);
}
