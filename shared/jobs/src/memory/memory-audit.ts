import type { JsonValue } from '../job/job.js';
import {
  type ActionOptions,
  type AuditEntry,
  type AuditFilter,
  type AuditListQuery,
  type AuditLog,
  type NewAuditEntry,
  storableEntry,
} from '../storage/audit-log.js';
import type { Clock } from '../job/clock.js';
import type { JobCount } from '../storage/job-reader.js';

/** Maximum number of entries. Beyond this number, the oldest entries are deleted. */
const maxEntries = 10_000;

export class MemoryAuditLog implements AuditLog {
  readonly #clock: Clock;
  /** Newest first. */
  #entries: AuditEntry[] = [];
  #recorded = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async record(entry: NewAuditEntry): Promise<void> {
    this.add(entry);
  }

  /**
   * Stores an entry. Actions call this before they change anything, so that an entry that cannot be stored prevents the
   * change.
   */
  add(entry: NewAuditEntry): void {
    this.prepare(entry)();
  }

  /** Returns the function that stores an entry, which cannot fail; throws if the entry cannot be stored. */
  prepare(entry: NewAuditEntry): () => void {
    const filter = JSON.parse(JSON.stringify(entry.filter)) as JsonValue;
    const at = new Date(this.#clock.now());
    const storable = storableEntry(entry);
    return () => {
      this.#entries.unshift({ ...storable, filter, id: String(++this.#recorded), at });
      this.#entries = this.#entries.slice(0, maxEntries);
    };
  }

  /**
   * Stores the entry that the caller's `audit` function builds from the action's result. Does nothing without such a
   * function.
   */
  addOf<Result>({ audit }: ActionOptions<Result>, result: Result): void {
    const entry = audit?.(result) ?? null;
    if (entry !== null) this.add(entry);
  }

  async list({
    order = 'newest',
    limit,
    offset = 0,
    after,
    ...filter
  }: AuditListQuery): Promise<AuditEntry[]> {
    const newestFirst = this.#entries.toSorted(byTime);
    const ordered = order === 'newest' ? newestFirst : newestFirst.toReversed();
    const afterIndex = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
    const following = after !== undefined && afterIndex < 0 ? [] : ordered.slice(afterIndex + 1);
    return following
      .filter((entry) => isMatch(entry, filter))
      .slice(offset, offset + limit)
      .map((entry) => ({ ...entry }));
  }

  async count(filter: AuditFilter): Promise<JobCount> {
    return { count: this.#entries.filter((entry) => isMatch(entry, filter)).length, exact: true };
  }
}

/** Compares entries by time, newest first. They are usually in this order already, unless the clock was set back. */
function byTime(one: AuditEntry, other: AuditEntry): number {
  return other.at.getTime() - one.at.getTime() || Number(other.id) - Number(one.id);
}

function isMatch(entry: AuditEntry, { who, action, target, from, until }: AuditFilter): boolean {
  return (
    (who === undefined || entry.who === who) &&
    (action === undefined || entry.action === action) &&
    (target === undefined || entry.target === target) &&
    (from === undefined || entry.at >= from) &&
    (until === undefined || entry.at < until)
  );
}
