import { bounds } from '../job/bounds.js';
import type { JsonValue } from '../job/job.js';
import { storable } from '../job/storable.js';
import type { TransactionClient } from './transaction.js';

/** An action of an operator, or an automatic one, such as the end of a pause. */
export interface AuditEntry {
  /** A decimal number as a string; higher for later entries. */
  id: string;
  /** By the storage's clock. */
  at: Date;
  /** Who acted, as named by the program that authenticated them; at most 200 characters. `Longshore` if automatic. */
  who: string;
  /** The kind of target and the action on it, such as `jobs/retry` or `queues/pause`. */
  action: string;
  /** The id or name of the target; `null` if the action applied to everything that matches a filter. */
  target: string | null;
  /** The filter, and other details in the format of the program that recorded them; `null` if there are none. */
  filter: JsonValue;
  /** Number of jobs or other targets affected. */
  count: number;
  /** Why the person acted; `null` if they gave no reason. */
  reason: string | null;
}

/** An audit entry to be stored. The reason is cut to 500 characters; `null` by default. */
export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at' | 'reason'> & { reason?: string | null };

export interface AuditListQuery {
  readonly limit: number;
  /** Only entries older than the one with this id. */
  readonly after?: string;
  /** Only actions of this person, whose name must match exactly. */
  readonly who?: string;
  readonly action?: string;
  /** Only actions whose `target` is this id or name. */
  readonly target?: string;
}

/** Options of every operator action, whose result is of type `Result`. */
export interface ActionOptions<Result> {
  /**
   * The caller's transaction, in which the action then runs. The memory storage does not support transactions and
   * throws a `TypeError`.
   */
  readonly transaction?: TransactionClient | undefined;
  /**
   * Returns the action's audit entry, which is stored in the same transaction. Called with the result, in which the
   * subject is as it was before the action; also called if the action changed nothing or was refused. If the function
   * throws, or the entry cannot be stored, nothing changes and the action rejects with that error. The function is
   * called again if the transaction is repeated.
   */
  readonly audit?: ((result: Result) => NewAuditEntry) | undefined;
}

/**
 * The audit log. Entries are kept for 400 days: a year plus time for an investigation. An action's entry is stored in
 * the transaction that makes its changes, so the changes are never stored without the entry.
 */
export interface AuditLog {
  /** Stores an entry. Resolves once it is durable. */
  record(entry: NewAuditEntry): Promise<void>;
  /** Lists the entries that match the query, newest first. */
  list(query: AuditListQuery): Promise<AuditEntry[]>;
}

const maxWho = 200;
const maxTarget = 1_000;

/** Converts an entry's texts so that every storage implementation can store them; cuts those that are too long. */
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
