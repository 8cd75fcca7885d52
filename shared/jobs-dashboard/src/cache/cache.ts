import { RefreshQueue } from './refresh-queue.js';
import { soon, SOON_MS } from './deadline.js';

const MAX_ENTRIES = 1_000;
/**
 * The pause before {@link Cache.readSoon} repeats a read, as a multiple of the duration of the read. With ten, one open
 * list occupies a core of the database server for about a tenth of the time.
 */
const REST_FACTOR = 10;
const MAX_REST_MS = 60_000;
/** If the refresh of a value is overdue by more than this, in milliseconds, pages show the value's age. */
const OVERDUE_MS = 30_000;
/** How long {@link Cache.readSoon} keeps a value, in milliseconds. */
const MAX_AGE_MS = 5 * 60_000;

/** The result of {@link Cache.readSoon}. */
export interface CachedValue<T> {
  readonly value: T;
  /** When the value was read, if its refresh is overdue by more than 30 s; `null` otherwise. */
  readonly asOf: Date | null;
}

interface Settled {
  readonly value: Promise<unknown>;
  readonly readAtMs: number;
  readonly tookMs: number;
  readonly freshUntilMs: number;
  /** Between `freshUntilMs` and this time, the value can still be shown while it is being read again. */
  readonly staleUntilMs: number;
}

interface Entry {
  settled: Settled | null;
  /** The read in progress, if any; there is never more than one. */
  pending: Promise<unknown> | null;
  /** Whether a refresh is waiting in a {@link RefreshQueue}. */
  isQueued: boolean;
}

interface Refresh<T> {
  readonly key: string;
  readonly entry: Entry;
  readonly load: () => Promise<T>;
  readonly lifetime: Lifetime<T>;
}

/** How long a value can be used after it has been read. All durations are in milliseconds. */
interface Lifetime<T> {
  /** How long the value is fresh; 0 if it must not be cached. */
  readonly freshMs: (value: T, tookMs: number) => number;
  /** How long the value can be shown once it is no longer fresh, while it is being read again. */
  readonly staleMs: (freshMs: number, tookMs: number) => number;
  /**
   * Whether to cache slow failures: if a read takes longer than the cache's default lifetime and fails, its error is
   * cached for as long as the read took.
   */
  readonly keepsFailures: boolean;
}

/**
 * The cache of everything that pages read, shared by all viewers of this process.
 *
 * Reads of the same key are coalesced: only one is in progress at a time. A cached value is kept for at least as long
 * as it took to read, so a slow read occupies the storage at most half of the time. Stale values of
 * {@link Cache.readStale} are refreshed through one {@link RefreshQueue}, and stale values of {@link Cache.readSoon}
 * through another. The cache contains at most 1,000 entries and evicts the least recently used.
 */
export class Cache {
  readonly lifetimeMs: number;
  readonly #now: () => number;
  /** Refreshes for {@link readStale}. */
  readonly #refreshes: RefreshQueue;
  /** Refreshes for {@link readSoon}. They can take seconds and must not delay the other refreshes. */
  readonly #searches: RefreshQueue;
  /** Entries by key, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #sweptAtMs = 0;

  /**
   * @param lifetimeMs how long a value is fresh by default, in milliseconds
   * @param newQueue creates each of the two refresh queues
   */
  constructor(
    lifetimeMs: number,
    now: () => number = Date.now,
    newQueue: () => RefreshQueue = () => new RefreshQueue(now),
  ) {
    this.lifetimeMs = lifetimeMs;
    this.#now = now;
    this.#refreshes = newQueue();
    this.#searches = newQueue();
  }

  /**
   * Returns the cached value if it is fresh, and reads it otherwise. A key must always identify the same read.
   *
   * @param freshMs returns how long the value is fresh, in milliseconds, or 0 if it must not be cached; by default,
   *   `lifetimeMs`
   */
  read<T>(
    key: string,
    load: () => Promise<T>,
    freshMs: (value: T) => number = () => this.lifetimeMs,
  ): Promise<T> {
    return this.#read(this.#entry(key), load, this.#lifetime(freshMs, false));
  }

  /**
   * Like {@link read}, but can also return a stale value. The value is then refreshed in the background
   * (stale-while-revalidate, RFC 5861). A value can be stale for as long as it was fresh. A value that can be read
   * within 5 ms is never returned stale.
   */
  readStale<T>(key: string, load: () => Promise<T>, freshMs: (value: T) => number): Promise<T> {
    const entry = this.#entry(key);
    const { settled } = entry;
    const nowMs = this.#now();
    const lifetime = this.#lifetime(freshMs, true);
    if (settled === null || nowMs < settled.freshUntilMs || nowMs >= settled.staleUntilMs)
      return this.#read(entry, load, lifetime);
    this.#refresh(this.#refreshes, { key, entry, load, lifetime });
    return settled.value as Promise<T>;
  }

  /**
   * Returns the value if it is fresh or can be read within 5 ms. Otherwise, returns the last known value, or
   * `undefined` if there is none from the last five minutes. A value is fresh for ten times as long as the read took,
   * up to a minute. A slow read continues in the background.
   *
   * @throws the error of `load`, if it fails within 5 ms
   */
  async readSoon<T>(key: string, load: () => Promise<T>): Promise<CachedValue<T> | undefined> {
    const entry = this.#entry(key);
    const { settled } = entry;
    if (settled !== null && this.#now() < settled.freshUntilMs) {
      return { value: (await settled.value) as T, asOf: null };
    }
    if (settled !== null && settled.tookMs > SOON_MS && this.#now() <= settled.staleUntilMs) {
      this.#refresh(this.#searches, { key, entry, load, lifetime: readSoonLifetime });
      return this.#cachedValue<T>(settled);
    }
    const value = await soon((entry.pending ?? this.#load(entry, load, readSoonLifetime)) as Promise<T>);
    if (value !== undefined) return { value, asOf: null };
    return this.knows(key) && entry.settled !== null ? this.#cachedValue<T>(entry.settled) : undefined;
  }

  /** Returns whether there is a cached value for the key, fresh or stale. */
  knows(key: string): boolean {
    const settled = this.#entries.get(key)?.settled ?? null;
    return settled !== null && this.#now() <= settled.staleUntilMs;
  }

  /** Returns the value if it is fresh or already being read; `undefined` otherwise. Never starts a read. */
  async peek<T>(key: string): Promise<T | undefined> {
    const { settled = null, pending = null } = this.#entries.get(key) ?? {};
    if (settled !== null && this.#now() < settled.freshUntilMs) return (await settled.value) as T;
    return pending === null ? undefined : ((await pending) as T);
  }

  /** Removes all entries, including reads in progress. Called after every action, so that pages show the new state. */
  clear(): void {
    this.#entries.clear();
  }

  #entry(key: string): Entry {
    const entry = this.#entries.get(key) ?? { settled: null, pending: null, isQueued: false };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#evict();
    return entry;
  }

  #lifetime<T>(freshMs: (value: T) => number, mayBeStale: boolean): Lifetime<T> {
    return {
      freshMs: (value, tookMs) => {
        const wantedMs = freshMs(value);
        return wantedMs === 0 ? 0 : Math.max(wantedMs, tookMs);
      },
      staleMs: (keptMs, tookMs) => (mayBeStale && tookMs > SOON_MS ? keptMs : 0),
      keepsFailures: true,
    };
  }

  #read<T>(entry: Entry, load: () => Promise<T>, lifetime: Lifetime<T>): Promise<T> {
    const { settled, pending } = entry;
    if (settled !== null && this.#now() < settled.freshUntilMs) return settled.value as Promise<T>;
    return (pending as Promise<T> | null) ?? this.#load(entry, load, lifetime);
  }

  #load<T>(entry: Entry, load: () => Promise<T>, lifetime: Lifetime<T>): Promise<T> {
    const readAtMs = this.#now();
    const pending = load();
    entry.pending = pending;
    void this.#settle(entry, pending, lifetime, readAtMs);
    return pending;
  }

  async #settle<T>(
    entry: Entry,
    value: Promise<T>,
    { freshMs, staleMs, keepsFailures }: Lifetime<T>,
    readAtMs: number,
  ): Promise<void> {
    try {
      const read = await value;
      const nowMs = this.#now();
      const tookMs = nowMs - readAtMs;
      const freshUntilMs = nowMs + freshMs(read, tookMs);
      const staleUntilMs = freshUntilMs + staleMs(freshUntilMs - nowMs, tookMs);
      entry.settled = { value, readAtMs, tookMs, freshUntilMs, staleUntilMs };
    } catch {
      const nowMs = this.#now();
      const tookMs = nowMs - readAtMs;
      const untilMs = nowMs + tookMs;
      if (keepsFailures && tookMs > this.lifetimeMs)
        entry.settled = { value, readAtMs, tookMs, freshUntilMs: untilMs, staleUntilMs: untilMs };
    } finally {
      entry.pending = null;
    }
  }

  /**
   * Queues a read of the value, unless such a read is queued or in progress. The queued read is skipped if the value
   * has been refreshed or the cache has been cleared by then.
   */
  #refresh<T>(queue: RefreshQueue, { key, entry, load, lifetime }: Refresh<T>): void {
    if (entry.isQueued || entry.pending !== null) return;
    entry.isQueued = true;
    const { settled } = entry;
    const refresh = queue.add(async () => {
      entry.isQueued = false;
      if (this.#entries.get(key) === entry && entry.settled === settled && entry.pending === null)
        await this.#load(entry, load, { ...lifetime, keepsFailures: false });
    });
    // Ignores the error and keeps the stale value. Once that value has expired, the next caller reads it again and
    // receives any error.
    refresh.catch(() => undefined);
  }

  #cachedValue<T>({ value, readAtMs, tookMs }: Settled): Promise<CachedValue<T>> {
    const isOverdue = this.#now() - readAtMs > OVERDUE_MS + restMs(tookMs) + 2 * tookMs;
    return (value as Promise<T>).then((read) => ({
      value: read,
      asOf: isOverdue ? new Date(readAtMs) : null,
    }));
  }

  #evict(): void {
    const nowMs = this.#now();
    if (nowMs - this.#sweptAtMs < this.lifetimeMs && this.#entries.size <= MAX_ENTRIES) return;
    this.#sweptAtMs = nowMs;
    for (const [key, { settled, pending }] of this.#entries) {
      const isOver = pending === null && settled !== null && settled.staleUntilMs < nowMs;
      if (isOver || this.#entries.size > MAX_ENTRIES) this.#entries.delete(key);
    }
  }
}

function restMs(tookMs: number): number {
  return Math.min(REST_FACTOR * tookMs, MAX_REST_MS);
}

const readSoonLifetime: Lifetime<unknown> = {
  freshMs: (_value, tookMs) => restMs(tookMs),
  staleMs: (freshMs, tookMs) => MAX_AGE_MS - tookMs - freshMs,
  keepsFailures: false,
};
