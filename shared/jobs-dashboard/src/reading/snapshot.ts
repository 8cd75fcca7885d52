import { Background } from './background.js';
import { SOON_MS } from './deadline.js';

const MAX_ENTRIES = 1_000;

interface Entry<T = unknown> {
  readonly value: Promise<T>;
  /** Infinite while it is being loaded. */
  expiresAtMs: number;
  /** Until then it may be shown while it is loaded again; not before it expires. */
  staleUntilMs: number;
  /** Somebody has asked for a newer one. */
  isFollowed: boolean;
  /** That, while it is being loaded. */
  next: Entry | null;
}

interface Loading<T> {
  readonly load: () => Promise<T>;
  /** How long it is kept, in milliseconds, once it is there. */
  readonly keptMs: (value: T) => number;
  /** And as long again while it is loaded anew. */
  readonly mayBeStale: boolean;
}

/**
 * What all viewers of this process share: a thing is loaded once, however many ask for it, and kept for `lifetimeMs`
 * milliseconds, or for as long as loading it took if that is longer. So a slow read is never under way twice, and
 * takes the storage's time half of the time at most. A failure is kept only if it took longer than that to come.
 */
export class Snapshot {
  readonly lifetimeMs: number;
  readonly #now: () => number;
  readonly #background: Background;
  /** The oldest first. */
  readonly #entries = new Map<string, Entry>();
  #sweptAtMs = 0;

  constructor(
    lifetimeMs: number,
    now: () => number = Date.now,
    background: Background = new Background(now),
  ) {
    this.lifetimeMs = lifetimeMs;
    this.#now = now;
    this.#background = background;
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
    return this.#share(key, { load, keptMs, mayBeStale: false });
  }

  /**
   * The same, but what takes so long that no page should wait for it is shown for `keptMs` more, while it is loaded
   * again when the page has been answered (stale-while-revalidate, RFC 5861).
   */
  shareStale<T>(key: string, load: () => Promise<T>, keptMs: (value: T) => number): Promise<T> {
    const loading = { load, keptMs, mayBeStale: true };
    const known = this.#entries.get(key);
    const nowMs = this.#now();
    if (known === undefined || known.expiresAtMs > nowMs || known.staleUntilMs <= nowMs)
      return this.#share(key, loading);
    if (!known.isFollowed) {
      known.isFollowed = true;
      void this.#background.read(() => this.#follow(key, known, loading));
    }
    return known.value as Promise<T>;
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

  #share<T>(key: string, loading: Loading<T>): Promise<T> {
    const known = this.#entries.get(key);
    const current = known !== undefined && known.expiresAtMs > this.#now() ? known : known?.next;
    if (current) return current.value as Promise<T>;
    const entry = this.#load(loading);
    this.#put(key, entry);
    return entry.value;
  }

  async #follow<T>(key: string, known: Entry, loading: Loading<T>): Promise<void> {
    if (this.#entries.get(key) !== known) return;
    const entry = this.#load(loading);
    known.next = entry;
    try {
      await entry.value;
      if (this.#entries.get(key) === known) this.#put(key, entry);
    } catch {
      // Whoever asks when it is too old is told.
      known.next = null;
      known.isFollowed = false;
    }
  }

  #load<T>(loading: Loading<T>): Entry<T> {
    const startedAtMs = this.#now();
    const entry: Entry<T> = {
      value: loading.load(),
      expiresAtMs: Infinity,
      staleUntilMs: Infinity,
      isFollowed: false,
      next: null,
    };
    void this.#expire(entry, loading, startedAtMs);
    return entry;
  }

  async #expire<T>(entry: Entry<T>, { keptMs, mayBeStale }: Loading<T>, startedAtMs: number): Promise<void> {
    let wantedMs = 0;
    let failed = false;
    try {
      wantedMs = keptMs(await entry.value);
    } catch {
      failed = true;
    }
    const nowMs = this.#now();
    const tookMs = nowMs - startedAtMs;
    const isForgotten = failed ? tookMs <= this.lifetimeMs : wantedMs === 0;
    const kept = isForgotten ? 0 : Math.max(wantedMs, tookMs);
    entry.expiresAtMs = nowMs + kept;
    entry.staleUntilMs = entry.expiresAtMs + (mayBeStale && !failed && tookMs > SOON_MS ? kept : 0);
  }

  #put(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#forgetSurplus();
  }

  #forgetSurplus(): void {
    const nowMs = this.#now();
    if (nowMs - this.#sweptAtMs < this.lifetimeMs && this.#entries.size <= MAX_ENTRIES) return;
    this.#sweptAtMs = nowMs;
    for (const [key, { staleUntilMs, next }] of this.#entries)
      if ((staleUntilMs <= nowMs && next === null) || this.#entries.size > MAX_ENTRIES)
        this.#entries.delete(key);
  }
}
