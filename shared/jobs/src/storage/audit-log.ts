import type { JsonValue } from '../job/job.js';

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

/** What becomes known of an action once it is over. */
export type AuditAmendment = Pick<AuditEntry, 'target' | 'filter' | 'count'>;

/**
 * What was done by hand, for those who ask later: kept for 400 days, a year and what it takes to look into it. A program
 * records what it is about to do, and amends the entry when that is over, so that nothing is done without an entry.
 */
export interface AuditLog {
  /** Resolves with the entry's id once it is durable. */
  record(entry: NewAuditEntry): Promise<string>;
  /** Replaces these members of an entry. Resolves once that is durable. */
  amend(id: string, amendment: AuditAmendment): Promise<void>;
  /** Newest first. */
  list(query: AuditListQuery): Promise<AuditEntry[]>;
}

const maxWho = 200;
const maxTarget = 1_000;

/** An entry that any storage can keep: what is too long is cut. */
export function storableEntry(entry: NewAuditEntry): NewAuditEntry {
  return { ...entry, who: cut(entry.who, maxWho), target: storableTarget(entry.target) };
}

export function storableTarget(target: string | null): string | null {
  return target === null ? null : cut(target, maxTarget);
}

function cut(text: string, length: number): string {
  return text.replaceAll('\0', '�').slice(0, length);
}
