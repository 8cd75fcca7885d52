const MAX_ENTRIES = 1_000;

interface Entry {
  readonly value: Promise<unknown>;
  /** Infinite while it is being loaded. */
  expiresAtMs: number;
}

/**
 * What all viewers of this process share: a thing is loaded once, however many ask for it, and kept for `lifetimeMs`
 * milliseconds, or for as long as loading it took if that is longer. So a slow read is never under way twice, and
 * takes the storage's time half of the time at most. A failure is kept only if it took longer than that to come.
 */
export class Snapshot {
  readonly lifetimeMs: number;
  readonly #now: () => number;
  /** The oldest first. */
  readonly #entries = new Map<string, Entry>();
  #sweptAtMs = 0;

  constructor(lifetimeMs: number, now: () => number = Date.now) {
    this.lifetimeMs = lifetimeMs;
    this.#now = now;
  }

  /**
   * Whoever uses a key must always mean the same thing by it, of the same type.
   *
   * @param keptMs how long it is kept, in milliseconds, once it is there; `lifetimeMs` by default, 0: it is not
   */
  share<T>(
    key: string,
    load: () => Promise<T>,
    keptMs: (value: T) => number = () => this.lifetimeMs,
  ): Promise<T> {
    const known = this.#entries.get(key);
    if (known !== undefined && known.expiresAtMs > this.#now()) return known.value as Promise<T>;
    const startedAtMs = this.#now();
    const value = load();
    const entry: Entry = { value, expiresAtMs: Number.POSITIVE_INFINITY };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#forgetSurplus();
    void this.#expire(entry, value, keptMs, startedAtMs);
    return value;
  }

  /** What is shared under a key by now, or `undefined`. */
  async peek<T>(key: string): Promise<T | undefined> {
    const known = this.#entries.get(key);
    return known === undefined || known.expiresAtMs <= this.#now() ? undefined : ((await known.value) as T);
  }

  /** After something has been changed: whoever asks now gets it as it is. */
  clear(): void {
    this.#entries.clear();
  }

  async #expire<T>(
    entry: Entry,
    value: Promise<T>,
    keptMsOf: (value: T) => number,
    startedAtMs: number,
  ): Promise<void> {
    let keptMs = 0;
    let failed = false;
    try {
      keptMs = keptMsOf(await value);
    } catch {
      failed = true;
    }
    const tookMs = this.#now() - startedAtMs;
    const isForgotten = failed ? tookMs <= this.lifetimeMs : keptMs === 0;
    entry.expiresAtMs = this.#now() + (isForgotten ? 0 : Math.max(keptMs, tookMs));
  }

  #forgetSurplus(): void {
    const nowMs = this.#now();
    if (nowMs - this.#sweptAtMs < this.lifetimeMs && this.#entries.size <= MAX_ENTRIES) return;
    this.#sweptAtMs = nowMs;
    for (const [key, { expiresAtMs }] of this.#entries)
      if (expiresAtMs <= nowMs || this.#entries.size > MAX_ENTRIES) this.#entries.delete(key);
  }
}
