import { Background } from './background.js';
import { soon, SOON_MS } from './deadline.js';

const MAX_ENTRIES = 100;
/** After a read the storage rests from it for ten times as long: a list that is looked at keeps a tenth of a core busy at most. */
const REST = 10;
const MAX_REST_MS = 60_000;
/** What is read again and again is not told its age until it is so old, in milliseconds, besides the time that all this takes. */
const RECENT_MS = 30_000;
/** Longer than anybody needs who reloads a page by hand, in milliseconds. */
const KEPT_MS = 5 * 60_000;

/** What there is to show of something that takes long to read. */
export interface Known<T> {
  readonly value: T;
  /** When it was read, if that is a while ago and newer is on its way; else `null`. */
  readonly asOf: Date | null;
}

interface Entry {
  /** It will be read in the background. */
  isInLine: boolean;
  underWay: Promise<unknown> | null;
  latest: Latest | null;
}

interface Latest {
  readonly value: unknown;
  readonly askedAtMs: number;
  readonly tookMs: number;
}

/**
 * What slow reads gave when they ended last: shown until they end again, so that nothing flickers that is the same, and
 * whoever reloads by hand finds what came meanwhile. Of one thing, one read is under way at a time.
 */
export class LastKnown {
  readonly #now: () => number;
  /** The one first that nobody has asked for longest. */
  readonly #entries = new Map<string, Entry>();
  readonly #background: Background;

  constructor(now: () => number = Date.now, background: Background = new Background(now)) {
    this.#now = now;
    this.#background = background;
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
    const before = entry.latest;
    if (before !== null && this.#now() < before.askedAtMs + before.tookMs + restOf(before)) {
      return { value: before.value as T, asOf: null };
    }
    if (before !== null && before.tookMs > SOON_MS && this.#ageOf(before) <= KEPT_MS) {
      this.#readAgain(key, entry, load);
      return this.#known<T>(before);
    }
    const value = await soon((entry.underWay ??= this.#load(entry, load)) as Promise<T>);
    if (value !== undefined) return { value, asOf: null };
    const { latest } = entry;
    return latest === null || this.#ageOf(latest) > KEPT_MS ? undefined : this.#known<T>(latest);
  }

  /** Whether something is known of it from the last few minutes. */
  knows(key: string): boolean {
    const latest = this.#entries.get(key)?.latest ?? null;
    return latest !== null && this.#ageOf(latest) <= KEPT_MS;
  }

  /** After something has been changed: nobody is shown what was before, nor what was being read. */
  clear(): void {
    this.#entries.clear();
  }

  #entry(key: string): Entry {
    const entry = this.#entries.get(key) ?? { isInLine: false, underWay: null, latest: null };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
    return entry;
  }

  #ageOf({ askedAtMs }: Latest): number {
    return this.#now() - askedAtMs;
  }

  #known<T>(latest: Latest): Known<T> {
    const isRecent = this.#ageOf(latest) <= RECENT_MS + restOf(latest) + 2 * latest.tookMs;
    return { value: latest.value as T, asOf: isRecent ? null : new Date(latest.askedAtMs) };
  }

  /** Unless somebody could not wait for its turn, or nobody asks for it any more. */
  #readAgain(key: string, entry: Entry, load: () => Promise<unknown>): void {
    if (entry.isInLine || entry.underWay !== null) return;
    entry.isInLine = true;
    const { latest } = entry;
    const reading = this.#background.read(async () => {
      entry.isInLine = false;
      if (this.#entries.get(key) === entry && entry.latest === latest && entry.underWay === null)
        await (entry.underWay = this.#load(entry, load));
    });
    // It is read by whoever asks next, and fails for them if it must.
    reading.catch(() => undefined);
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

function restOf({ tookMs }: Latest): number {
  return Math.min(REST * tookMs, MAX_REST_MS);
}
