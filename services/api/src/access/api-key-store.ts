import type { ActionOptions, AuditLog, Clock, ControlOptions } from '@longshore/jobs/storage';
import type { ApiKey, ApiKeyTerms, NewApiKey } from './api-key.js';

/** A key before and after a change. */
export interface ChangedApiKey {
  readonly before: ApiKey;
  readonly after: ApiKey;
}

/**
 * Stores API keys. Intended for a small number of keys, because `list` returns all of them at once. Each change and its
 * audit entry are stored in one transaction: that of the options, or one of its own.
 */
export interface ApiKeyStore {
  /** Returns all keys, in no particular order. */
  list(): Promise<readonly ApiKey[]>;
  find(id: string): Promise<ApiKey | undefined>;
  /** Stores a new key. Returns the stored key. */
  add(key: NewApiKey, options?: ControlOptions<ApiKey, ApiKey>): Promise<ApiKey>;
  /**
   * Calls `change` with the stored key and replaces the key's terms with the result. Returns `null` if there is no key with
   * this id.
   */
  change(
    id: string,
    change: (current: ApiKey) => ApiKeyTerms,
    options?: ControlOptions<ApiKey, ChangedApiKey | null>,
  ): Promise<ChangedApiKey | null>;
  /** Deletes a key. Returns it; `null` if there is no key with this id. */
  remove(id: string, options?: ControlOptions<ApiKey, ApiKey | null>): Promise<ApiKey | null>;
  /** Records the current time as the last use of the key. */
  noteUse(id: string): Promise<void>;
}

/**
 * Creates a store that keeps API keys in memory. They are lost when the process ends.
 *
 * @param clock the storage's clock, which determines when keys were created and last used
 * @param log where changes are recorded
 */
export function memoryApiKeyStore(clock: Clock, log: AuditLog): ApiKeyStore {
  const keys = new Map<string, ApiKey>();
  /** Stores the audit entry of a change before the change, so that an entry that cannot be stored prevents it. */
  const record = async <Result>({ audit }: ActionOptions<Result>, result: Result): Promise<void> => {
    const entry = audit?.(result) ?? null;
    if (entry !== null) await log.record(entry);
  };

  return {
    list: async () => [...keys.values()],
    find: async (id) => keys.get(id),
    add: async (key, options = {}) => {
      const stored = { ...key, createdAt: new Date(clock.now()), lastUsedAt: null };
      await record(options, stored);
      keys.set(key.id, stored);
      return stored;
    },
    change: async (id, change, options = {}) => {
      const before = keys.get(id);
      const changed = before === undefined ? null : { before, after: { ...before, ...change(before) } };
      await record(options, changed);
      if (changed !== null) keys.set(id, changed.after);
      return changed;
    },
    remove: async (id, options = {}) => {
      const key = keys.get(id) ?? null;
      if (key !== null) options.check?.(key);
      await record(options, key);
      keys.delete(id);
      return key;
    },
    noteUse: async (id) => {
      const key = keys.get(id);
      if (key !== undefined) keys.set(id, { ...key, lastUsedAt: new Date(clock.now()) });
    },
  };
}
