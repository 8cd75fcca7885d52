import type { ActionOptions, AuditLog, Clock } from '@longshore/jobs/storage';
import type { ApiKey } from './api-key.js';
import type { ApiKeyStore } from './api-key-store.js';

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
