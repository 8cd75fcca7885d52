import type { JsonValue } from '../job/job.js';
import type { TransactionClient } from './transaction.js';

/** Something that a person did to jobs, queues or whatever else the storage keeps. */
export interface AuditEntry {
  /** A number: the later, the higher. */
  id: string;
  /** By the storage's clock. */
  at: Date;
  /** Who did it, as the program that let them in calls them; at most 200 characters. */
  who: string;
  /** `jobs/retry`, `queues/pause`: what it was done to, and what was done. */
  action: string;
  /** The id or the name of what it was done to; `null` if it was done to all that match a filter. */
  target: string | null;
  /** Which jobs, and what else is to be known of it, in the words of the program; `null` if there is nothing to say. */
  filter: JsonValue;
  /** How many things it was done to. */
  count: number;
}

export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at'>;

export interface AuditListQuery {
  readonly limit: number;
  /** Only entries older than the one with this id. */
  readonly after?: string;
  /** Only what this one did, to the letter. */
  readonly who?: string;
  readonly action?: string;
  /** Only what was done to the thing with this id or name. */
  readonly target?: string;
}

/** Options of every action that operators take: `Result` is the result of the action. */
export interface ActionOptions<Result> {
  /** A transaction of the caller's, in which the action is carried out. Memory storage has none: a `TypeError`. */
  readonly transaction?: TransactionClient | undefined;
  /**
   * Returns the audit entry of the action, which is stored in the same transaction: either both are there or neither. Gets
   * the result, in which the subject is as it was before the action, even if nothing needed to change or the action is not
   * possible. If this throws, or the entry cannot be stored, nothing was changed and the action rejects with that error.
   * Called again if the transaction has to be repeated.
   */
  readonly audit?: ((result: Result) => NewAuditEntry) | undefined;
}

/** What operators did, newest first. Entries are kept for 400 days: a year, and the time to investigate. */
export interface AuditLog {
  /** Stores an entry about something other than an action of this storage. Resolves once it is durable. */
  record(entry: NewAuditEntry): Promise<void>;
  /** Newest first. */
  list(query: AuditListQuery): Promise<AuditEntry[]>;
}

const maxWho = 200;
const maxTarget = 1_000;

/** An entry that any storage can keep: what is too long is cut. */
export function storableEntry({ who, target, ...entry }: NewAuditEntry): NewAuditEntry {
  return { ...entry, who: cut(who, maxWho), target: target === null ? null : cut(target, maxTarget) };
}

function cut(text: string, length: number): string {
  return text.replaceAll('\0', '�').slice(0, length);
}
