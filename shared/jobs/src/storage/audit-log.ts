import type { JsonValue } from '../job/job.js';

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
}

export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at'>;

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

/** The members of an entry that are known only after the action. */
export type AuditAmendment = Pick<AuditEntry, 'target' | 'filter' | 'count'>;

/**
 * The audit log, kept for 400 days: a year plus time for an investigation. A program records what it is about to do
 * and amends the entry afterwards, so nothing is done without an entry.
 */
export interface AuditLog {
  /** Resolves to the entry's id once it is durable. */
  record(entry: NewAuditEntry): Promise<string>;
  /** Replaces these members of an entry. Resolves once that is durable. */
  amend(id: string, amendment: AuditAmendment): Promise<void>;
  /** Newest first. */
  list(query: AuditListQuery): Promise<AuditEntry[]>;
}

const maxWho = 200;
const maxTarget = 1_000;

/** Cuts an entry's texts to the lengths that every storage supports. */
export function storableEntry(entry: NewAuditEntry): NewAuditEntry {
  return { ...entry, who: cut(entry.who, maxWho), target: storableTarget(entry.target) };
}

export function storableTarget(target: string | null): string | null {
  return target === null ? null : cut(target, maxTarget);
}

function cut(text: string, length: number): string {
  return text.replaceAll('\0', '�').slice(0, length);
}
