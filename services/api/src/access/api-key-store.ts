import type { Transaction } from '@longshore/resources';
import type { ApiKey, ApiKeyTerms } from './api-key.js';

/** Stores API keys. There are few, so the whole list is read at once. */
export interface ApiKeyStore {
  /** In no order. */
  list(): Promise<readonly ApiKey[]>;
  find(id: string): Promise<ApiKey | undefined>;
  /** @param transaction in which to do it */
  add(key: ApiKey, transaction?: Transaction): Promise<void>;
  /** Replaces the terms by what `change` makes of the key as it is; undefined if there is none. */
  change(id: string, change: (current: ApiKey) => ApiKeyTerms): Promise<ApiKey | undefined>;
  /** Calls `check` before the key goes; false if there is none. */
  remove(id: string, check: (current: ApiKey) => void): Promise<boolean>;
  /** Notes that it was used now. */
  noteUse(id: string): Promise<void>;
}
