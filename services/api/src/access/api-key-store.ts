import type { Transaction } from '@longshore/resources';
import type { ApiKey, ApiKeyTerms, NewApiKey } from './api-key.js';

/** Stores API keys. Intended for a small number of keys, because `list` returns all of them at once. */
export interface ApiKeyStore {
  /** Returns all keys, in no particular order. */
  list(): Promise<readonly ApiKey[]>;
  find(id: string): Promise<ApiKey | undefined>;
  /**
   * Stores a new key. Returns the stored key.
   *
   * @param transaction the transaction to write in; by default, the key is stored immediately
   */
  add(key: NewApiKey, transaction?: Transaction): Promise<ApiKey>;
  /**
   * Calls `change` with the stored key and replaces the key's terms with the result. Returns the changed key;
   * `undefined` if there is no key with this id.
   *
   * @param transaction the transaction to write in; by default, one of its own
   */
  change(
    id: string,
    change: (current: ApiKey) => ApiKeyTerms,
    transaction?: Transaction,
  ): Promise<ApiKey | undefined>;
  /**
   * Calls `check` with the stored key, and then deletes the key. `check` can throw to prevent the deletion. Returns
   * `false` if there is no key with this id.
   *
   * @param transaction the transaction to write in; by default, one of its own
   */
  remove(id: string, check: (current: ApiKey) => void, transaction?: Transaction): Promise<boolean>;
  /** Records the current time as the last use of the key. */
  noteUse(id: string): Promise<void>;
}
