import { compareTexts } from '@longshore/edge';
import type { ActionOptions } from '../storage/audit-log.js';
import type { Clock } from '../job/clock.js';
import {
  checkSavedSearch,
  maxSavedSearches,
  type NewSavedSearch,
  type SavedSearch,
  type SavedSearches,
  type SaveSearchResult,
} from '../storage/saved-searches.js';
import type { MemoryAuditLog } from './memory-audit.js';
import { refuseTransaction } from './refuse-transaction.js';

export class MemorySavedSearches implements SavedSearches {
  readonly #clock: Clock;
  readonly #audit: MemoryAuditLog;
  readonly #searches = new Map<string, SavedSearch>();

  constructor(clock: Clock, audit: MemoryAuditLog) {
    this.#clock = clock;
    this.#audit = audit;
  }

  async list(): Promise<SavedSearch[]> {
    return [...this.#searches.values()].toSorted((one, other) => compareTexts(one.name, other.name));
  }

  async save(
    { name, query, savedBy }: NewSavedSearch,
    options: ActionOptions<SaveSearchResult> = {},
  ): Promise<SaveSearchResult> {
    refuseTransaction(options.transaction);
    checkSavedSearch({ name, query, savedBy });
    const before = this.#searches.get(name) ?? null;
    const isFull = before === null && this.#searches.size >= maxSavedSearches;
    const result: SaveSearchResult = isFull ? { outcome: 'full' } : { outcome: 'saved', before };
    this.#audit.addOf(options, result);
    if (!isFull) this.#searches.set(name, { name, query, savedBy, savedAt: new Date(this.#clock.now()) });
    return result;
  }

  async delete(name: string, options: ActionOptions<SavedSearch | null> = {}): Promise<SavedSearch | null> {
    refuseTransaction(options.transaction);
    const before = this.#searches.get(name) ?? null;
    this.#audit.addOf(options, before);
    this.#searches.delete(name);
    return before;
  }
}
