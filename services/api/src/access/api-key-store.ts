import type { ControlOptions } from '@longshore/jobs/storage';
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
