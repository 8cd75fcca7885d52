const MAX_ENTRIES = 1_000;

interface Entry {
  readonly value: Promise<unknown>;
  readonly expiresAtMs: number;
}

/**
 * What all viewers of this process share: within `lifetimeMs` milliseconds the same thing is loaded once, however
 * many ask for it. Failures are not kept.
 */
export class Snapshot {
  readonly #lifetimeMs: number;
  readonly #now: () => number;
  /** The oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(lifetimeMs: number, now: () => number = Date.now) {
    this.#lifetimeMs = lifetimeMs;
    this.#now = now;
  }

  /** Whoever uses a key must always mean the same thing by it, of the same type. */
  share<T>(key: string, load: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known !== undefined && known.expiresAtMs > this.#now()) return known.value as Promise<T>;
    const value = load();
    const entry: Entry = { value, expiresAtMs: this.#now() + this.#lifetimeMs };
    value.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#forgetSurplus();
    return value;
  }

  #forgetSurplus(): void {
    for (const [key, { expiresAtMs }] of this.#entries) {
      if (this.#entries.size <= MAX_ENTRIES && expiresAtMs > this.#now()) return;
      this.#entries.delete(key);
    }
  }
}
