import type { JsonValue } from '../job/job.js';
import {
  type AuditAmendment,
  type AuditEntry,
  type AuditListQuery,
  type AuditLog,
  type NewAuditEntry,
  storableEntry,
  storableTarget,
} from '../storage/audit-log.js';
import type { Clock } from '../storage/clock.js';

/** Maximum number of entries; older ones are deleted. */
const maxEntries = 10_000;

/** The audit log of one process. */
export class MemoryAuditLog implements AuditLog {
  readonly #clock: Clock;
  /** Newest first. */
  #entries: AuditEntry[] = [];
  #recorded = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async record(entry: NewAuditEntry): Promise<string> {
    const at = new Date(this.#clock.now());
    const id = String(++this.#recorded);
    this.#entries.unshift({ ...storableEntry(entry), filter: copyOf(entry.filter), id, at });
    this.#entries = this.#entries.slice(0, maxEntries);
    return id;
  }

  async amend(id: string, { target, filter, count }: AuditAmendment): Promise<void> {
    this.#entries = this.#entries.map((entry) =>
      entry.id === id ? { ...entry, target: storableTarget(target), filter: copyOf(filter), count } : entry,
    );
  }

  async list({ limit, after, who, action, target }: AuditListQuery): Promise<AuditEntry[]> {
    return this.#entries
      .filter(
        (entry) =>
          (after === undefined || Number(entry.id) < Number(after)) &&
          (who === undefined || entry.who === who) &&
          (action === undefined || entry.action === action) &&
          (target === undefined || entry.target === target),
      )
      .slice(0, limit)
      .map((entry) => ({ ...entry }));
  }
}

function copyOf(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
