import type { JsonValue } from '../../job/job.js';
import {
  type AuditEntry,
  type AuditListQuery,
  type AuditLog,
  type NewAuditEntry,
  storableEntry,
} from '../audit-log.js';
import type { Clock } from './clock.js';

/** The oldest entries beyond this many are forgotten. */
const maxEntries = 10_000;

/** What was done by hand in this process. */
export class MemoryAuditLog implements AuditLog {
  readonly #clock: Clock;
  /** Newest first. */
  #entries: AuditEntry[] = [];
  #recorded = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async record(entry: NewAuditEntry): Promise<void> {
    const at = new Date(this.#clock.now());
    const filter = JSON.parse(JSON.stringify(entry.filter)) as JsonValue;
    this.#entries.unshift({ ...storableEntry(entry), filter, id: String(++this.#recorded), at });
    this.#entries = this.#entries.slice(0, maxEntries);
  }

  async list({ limit, after }: AuditListQuery): Promise<AuditEntry[]> {
    return this.#entries
      .filter(({ id }) => after === undefined || Number(id) < Number(after))
      .slice(0, limit)
      .map((entry) => ({ ...entry }));
  }
}
