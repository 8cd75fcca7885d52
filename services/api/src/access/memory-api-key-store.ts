import type { ApiKey } from './api-key.js';
import type { ApiKeyStore } from './api-key-store.js';

/** Creates a store that keeps API keys in memory. They are lost when the process ends. */
export function memoryApiKeyStore(): ApiKeyStore {
  const keys = new Map<string, ApiKey>();

  const set = (key: ApiKey): ApiKey => {
    keys.set(key.id, key);
    return key;
  };

  return {
    list: async () => [...keys.values()],
    find: async (id) => keys.get(id),
    add: async (key) => void set(key),
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
      if (current !== undefined) set({ ...current, lastUsedAt: new Date() });
    },
  };
}
