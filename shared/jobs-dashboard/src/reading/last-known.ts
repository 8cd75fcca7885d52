import { soon } from './deadline.js';

const MAX_ENTRIES = 100;
/** What is read again and again is not told its age until it is so old, in milliseconds, besides the time that reading takes. */
const RECENT_MS = 10_000;
/** Longer than anybody needs who reloads a page by hand, in milliseconds. */
const KEPT_MS = 5 * 60_000;

/** What there is to show of something that takes long to read. */
export interface Known<T> {
  readonly value: T;
  /** When it was read, if that is a while ago and newer is on its way; else `null`. */
  readonly asOf: Date | null;
}

interface Entry {
  underWay: Promise<unknown> | null;
  latest: { readonly value: unknown; readonly askedAtMs: number; readonly tookMs: number } | null;
}

/**
 * What slow reads gave when they ended last: shown until they end again, so that nothing flickers that is the same, and
 * whoever reloads by hand finds what came meanwhile. Of one thing, one read is under way at a time.
 */
export class LastKnown {
  readonly #now: () => number;
  /** The one first that nobody has asked for longest. */
  readonly #entries = new Map<string, Entry>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * What is read now, if it is there at once; else what is known from the last few minutes, and `undefined` if nothing is.
   * What is kept is small: whoever reads makes lines of jobs, not jobs.
   *
   * @param key always of the same thing, though `load` may ask for it by other moments
   * @throws what `load` does, if that is at once
   */
  async read<T>(key: string, load: () => Promise<T>): Promise<Known<T> | undefined> {
    const entry = this.#entry(key);
    const value = await soon((entry.underWay ??= this.#load(entry, load)) as Promise<T>);
    if (value !== undefined) return { value, asOf: null };
    const { latest } = entry;
    const ageMs = latest === null ? Infinity : this.#now() - latest.askedAtMs;
    if (latest === null || ageMs > KEPT_MS) return undefined;
    // Until a read ends again that is begun at each look, three times its length may pass.
    const isRecent = ageMs <= RECENT_MS + 3 * latest.tookMs;
    return { value: latest.value as T, asOf: isRecent ? null : new Date(latest.askedAtMs) };
  }

  /** After something has been changed: nobody is shown what was before, nor what was being read. */
  clear(): void {
    this.#entries.clear();
  }

  #entry(key: string): Entry {
    const entry = this.#entries.get(key) ?? { underWay: null, latest: null };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
    return entry;
  }

  async #load<T>(entry: Entry, load: () => Promise<T>): Promise<T> {
    const askedAtMs = this.#now();
    try {
      const value = await load();
      entry.latest = { value, askedAtMs, tookMs: this.#now() - askedAtMs };
      return value;
    } finally {
      entry.underWay = null;
    }
  }
}
