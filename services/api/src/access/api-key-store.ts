import type { Transaction } from '@longshore/resources';
import type { ApiKey, ApiKeyTerms } from './api-key.js';

/** Stores API keys. There are few, so the whole list is read at once. */
export interface ApiKeyStore {
  /** In no particular order. */
  list(): Promise<readonly ApiKey[]>;
  find(id: string): Promise<ApiKey | undefined>;
  /** @param transaction a transaction to write in */
  add(key: ApiKey, transaction?: Transaction): Promise<void>;
  /** Replaces a key's terms with the result of `change`; returns `undefined` if the key does not exist. */
  change(id: string, change: (current: ApiKey) => ApiKeyTerms): Promise<ApiKey | undefined>;
  /** Deletes a key after calling `check`; returns `false` if it does not exist. */
  remove(id: string, check: (current: ApiKey) => void): Promise<boolean>;
  /** Records that the key was used now. */
  noteUse(id: string): Promise<void>;
}
