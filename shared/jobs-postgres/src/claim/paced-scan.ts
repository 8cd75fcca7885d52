/**
 * The pause after a slow scan, as a multiple of the scan's duration beyond `quickMs`. Limits slow scans to about two
 * percent of one processor.
 */
const factor = 50;

/**
 * Limits how often an expensive scan runs. After a fast scan, the next one is due at once. The longer a slow scan took,
 * the longer the pause after it. Scans are slow, for example, while a forgotten transaction keeps a million dead index
 * entries from being vacuumed.
 */
export class PacedScan {
  readonly #quickMs: number;
  readonly #now: () => number;
  #nextAtMs = -Infinity;

  /**
   * @param quickMs scans that take up to this many milliseconds need no pause; defaults to 200
   * @param now returns the time in milliseconds
   */
  constructor(quickMs = 200, now = () => performance.now()) {
    this.#quickMs = quickMs;
    this.#now = now;
  }

  get isDue(): boolean {
    return this.#now() >= this.#nextAtMs;
  }

  async run<Result>(scan: () => Promise<Result>): Promise<Result> {
    const startedAtMs = this.#now();
    const result = await scan();
    const endedAtMs = this.#now();
    this.#nextAtMs = endedAtMs + factor * (endedAtMs - startedAtMs - this.#quickMs);
    return result;
  }
}
