import { type Principal, unauthorized } from '@longshore/resources';
import type { ApiKeyStore } from './api-key-store.js';
import { type ApiKey, apiKeyId, isHashOf } from './api-key.js';

/**
 * How long lookups are cached, in milliseconds. Also the longest time until this process notices that another process
 * changed or revoked a key.
 */
const cachedMs = 5_000;

/** Maximum number of cached lookups. When it is exceeded, the oldest lookup is dropped. */
const maxCachedLookups = 10_000;

/** Minimum time between two updates of a key's `lastUsedAt`, in milliseconds. */
const useNotedMs = 60_000;

export interface KeyRingOptions {
  /** Returns the current time in milliseconds since 1970; by default, reads this machine's clock. */
  readonly now?: () => number;
  /** Called if a key's `lastUsedAt` cannot be updated. The request itself does not fail. */
  readonly onError: (error: unknown) => void;
}

interface Lookup {
  readonly key: Promise<ApiKey | undefined>;
  readonly at: number;
}

/** Authenticates callers by API key. Caches lookups for five seconds, including lookups of ids that do not exist. */
export class KeyRing {
  readonly #store: ApiKeyStore;
  readonly #now: () => number;
  readonly #onError: (error: unknown) => void;
  readonly #lookups = new Map<string, Lookup>();
  readonly #usesNoted = new Map<string, number>();

  constructor(store: ApiKeyStore, { now = Date.now, onError }: KeyRingOptions) {
    this.#store = store;
    this.#now = now;
    this.#onError = onError;
  }

  /**
   * Returns the principal that a token authenticates.
   *
   * @throws {ApiError} 40101 if the token is not an API key, or the key is unknown, revoked or expired
   */
  async principalOf(token: string): Promise<Principal> {
    const id = apiKeyId(token);
    const key = id === undefined ? undefined : await this.#find(id);
    if (key === undefined || !isHashOf(key.hash, token))
      throw unauthorized('The API key is unknown or revoked');
    if (key.expiresAt !== null && key.expiresAt.getTime() <= this.#now())
      throw unauthorized('The API key has expired');
    this.#noteUse(key);
    const { scopes, queues } = key;
    return { name: `key ${key.id}`, scopes, ...(queues !== null && { rowScope: queues }) };
  }

  /** Removes a key from the cache, so that the next request reads it again. */
  forget(id: string): void {
    this.#lookups.delete(id);
  }

  async #find(id: string): Promise<ApiKey | undefined> {
    const cachedLookup = this.#lookups.get(id);
    if (cachedLookup !== undefined && this.#now() - cachedLookup.at < cachedMs) return cachedLookup.key;
    const lookup = { key: this.#store.find(id), at: this.#now() };
    this.#lookups.delete(id); // added again below, so that the map stays in order of age
    this.#lookups.set(id, lookup);
    const [oldest] = this.#lookups.keys();
    if (this.#lookups.size > maxCachedLookups && oldest !== undefined) this.#lookups.delete(oldest);
    try {
      return await lookup.key;
    } catch (error) {
      this.forget(id);
      throw error;
    }
  }

  #noteUse({ id, lastUsedAt }: ApiKey): void {
    const noted = Math.max(this.#usesNoted.get(id) ?? 0, lastUsedAt?.getTime() ?? 0);
    if (this.#now() - noted < useNotedMs) return;
    this.#usesNoted.set(id, this.#now());
    this.#store.noteUse(id).catch(this.#onError);
  }
}
