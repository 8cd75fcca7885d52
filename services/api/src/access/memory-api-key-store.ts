import type { Clock } from '@longshore/jobs/storage';
import type { ApiKey } from './api-key.js';
import type { ApiKeyStore } from './api-key-store.js';

/**
 * Creates a store that keeps API keys in memory. They are lost when the process ends.
 *
 * @param clock the storage's clock, which determines when keys were created and last used
 */
export function memoryApiKeyStore(clock: Clock): ApiKeyStore {
  const keys = new Map<string, ApiKey>();

  const set = (key: ApiKey): ApiKey => {
    keys.set(key.id, key);
    return key;
  };

  return {
    list: async () => [...keys.values()],
    find: async (id) => keys.get(id),
    add: async (key) => set({ ...key, createdAt: new Date(clock.now()), lastUsedAt: null }),
    change: async (id, change) => {
      const current = keys.get(id);
      return current && set({ ...current, ...change(current) });
    },
    remove: async (id, check) => {
      const current = keys.get(id);
      if (current !== undefined) check(current);
      return keys.delete(id);
    },
    noteUse: async (id) => {
      const current = keys.get(id);
      if (current !== undefined) set({ ...current, lastUsedAt: new Date(clock.now()) });
    },
  };
}
