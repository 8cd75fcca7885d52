import { bounds } from '../job/bounds.js';
import type { JsonValue } from '../job/job.js';
import { storable } from '../job/storable.js';
import type { TransactionClient } from './transaction.js';

/** A record of an operator's action or of an automatic action, such as the end of a pause. */
export interface AuditEntry {
  /** A decimal number as a string; higher for later entries. */
  id: string;
  /** When the entry was recorded, by the storage's clock. */
  at: Date;
  /**
   * The user's name, as given by the program that authenticated the user; `Longshore` for an automatic action. At most
   * 200 characters.
   */
  who: string;
  /** The kind of target, a slash, and the action, such as `jobs/retry` or `queues/pause`. */
  action: string;
  /** The id or name of the target; `null` if the action applied to everything that matches a filter. */
  target: string | null;
  /** The filter and other details, in the format of the program that recorded the entry; `null` if there are none. */
  filter: JsonValue;
  /** Number of jobs or other targets affected. */
  count: number;
  /** The reason that the user gave; `null` if there is none. */
  reason: string | null;
}

/**
 * An audit entry to be stored. Truncated when stored: `who` to 200 characters, `target` to 1000, `reason` to 500.
 * `reason` is `null` by default.
 */
export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at' | 'reason'> & { reason?: string | null };

export interface AuditListQuery {
  readonly limit: number;
  /** Only entries older than the entry with this id. */
  readonly after?: string;
  /** Only entries whose `who` is exactly this name. */
  readonly who?: string;
  readonly action?: string;
  /** Only entries whose `target` is exactly this id or name. */
  readonly target?: string;
}

/**
 * Options common to all operator actions.
 *
 * @typeParam Result the result of the action
 */
export interface ActionOptions<Result> {
  /**
   * Runs the action in this transaction of the caller. The memory storage does not support transactions and throws a
   * `TypeError`.
   */
  readonly transaction?: TransactionClient | undefined;
  /**
   * Returns the audit entry for the action; the entry is stored in the same transaction. The function receives the
   * action's result; an existing job or other target in this result is as it was before the action. The function is
   * also called if the action changed nothing or was refused, and called again if the transaction is retried. If the
   * function throws, or the entry cannot be stored, nothing changes and the action rejects with that error.
   */
  readonly audit?: ((result: Result) => NewAuditEntry) | undefined;
}

/**
 * The log of operators' actions and automatic actions. Entries are kept for 400 days: a year plus time for an
 * investigation. The entry for an action is stored in the transaction that makes the changes, so no change is ever
 * stored without its entry.
 */
export interface AuditLog {
  /** Stores an entry. Resolves once the entry is durable. */
  record(entry: NewAuditEntry): Promise<void>;
  /** Lists the entries that match the query, newest first. */
  list(query: AuditListQuery): Promise<AuditEntry[]>;
}

const maxWho = 200;
const maxTarget = 1_000;

/**
 * Returns the entry with texts that every storage implementation can store: replaces characters that Postgres rejects,
 * and truncates long texts.
 */
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
    reason: reason === null ? null : storable(reason, bounds.reasonLength.max),
  };
}
