import { bounds } from '../job/bounds.js';
import type { JsonValue } from '../job/job.js';
import { storable } from '../job/storable.js';
import type { TransactionClient } from './transaction.js';

/** An action that a person took. */
export interface AuditEntry {
  /** A number; higher for later entries. */
  id: string;
  /** By the storage's clock. */
  at: Date;
  /** Who acted, as named by the program that authenticated them; at most 200 characters. */
  who: string;
  /** The kind of target and what was done to it: `jobs/retry`, `queues/pause`. */
  action: string;
  /** The id or name of the target; `null` if the action applied to everything that matches a filter. */
  target: string | null;
  /** The filter, and other details in the program's own format; `null` if there are none. */
  filter: JsonValue;
  /** Number of things affected. */
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
  /** Only actions of this person; an exact match. */
  readonly who?: string;
  readonly action?: string;
  /** Only actions on the target with this id or name. */
  readonly target?: string;
}

/** Options of every action that operators take: `Result` is the result of the action. */
export interface ActionOptions<Result> {
  /**
   * The caller's own transaction, in which the action then runs. The memory storage supports none and throws a
   * `TypeError`.
   */
  readonly transaction?: TransactionClient | undefined;
  /**
   * Returns the action's audit entry, which is stored in the same transaction. Called with the result, which contains
   * the subject as it was before the action; also called if the action changed nothing or was refused. If this throws,
   * or the entry cannot be stored, nothing changes and the action rejects with that error. May be called again if the
   * transaction is repeated.
   */
  readonly audit?: ((result: Result) => NewAuditEntry) | undefined;
}

/**
 * The audit log. Entries are kept for 400 days: a year plus time for an investigation. Every action stores its entry
 * in the transaction in which it makes its changes, so nothing is changed without an entry.
 */
export interface AuditLog {
  /** Resolves once the entry is durable. */
  record(entry: NewAuditEntry): Promise<void>;
  /** Newest first. */
  list(query: AuditListQuery): Promise<AuditEntry[]>;
}

const maxWho = 200;
const maxTarget = 1_000;

/** Cuts an entry's texts to the lengths that every storage supports. */
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
