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
  /** Which jobs, in the words of the program; `null` if it was done to one thing. */
  filter: JsonValue;
  /** How many things it was done to. */
  count: number;
}

export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at'>;

export interface AuditListQuery {
  readonly limit: number;
  /** Only entries older than the one with this id. */
  readonly after?: string;
}

/** What was done by hand, for those who ask later: kept for 400 days, a year and what it takes to look into it. */
export interface AuditLog {
  /** Resolves once the entry is durable. */
  record(entry: NewAuditEntry): Promise<void>;
  /** Newest first. */
  list(query: AuditListQuery): Promise<AuditEntry[]>;
}

const maxWho = 200;
const maxTarget = 1_000;

/** An entry that any storage can keep: what is too long is cut. */
export function storableEntry(entry: NewAuditEntry): NewAuditEntry {
  const cut = (text: string, length: number): string => text.replaceAll('\0', '�').slice(0, length);
  return {
    ...entry,
    who: cut(entry.who, maxWho),
    target: entry.target === null ? null : cut(entry.target, maxTarget),
  };
}
