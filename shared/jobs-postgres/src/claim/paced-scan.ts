/** A scan is repeated at the earliest after so many times as long as the last one took: two percent of one processor. */
const factor = 50;

/**
 * Paces a scan that passes the dead entries of all finished jobs: every time while it is quick, which it nearly always is, and
 * seldom while a transaction that somebody left open keeps a million dead entries in its way.
 */
export class PacedScan {
  readonly #quickMs: number;
  #nextAtMs = -Infinity;

  /** @param quickMs what takes no longer than this is not worth pacing */
  constructor(quickMs = 200) {
    this.#quickMs = quickMs;
  }

  get isDue(): boolean {
    return performance.now() >= this.#nextAtMs;
  }

  async run<Result>(scan: () => Promise<Result>): Promise<Result> {
    const startedAtMs = performance.now();
    const result = await scan();
    const endedAtMs = performance.now();
    this.#nextAtMs = endedAtMs + factor * (endedAtMs - startedAtMs - this.#quickMs);
    return result;
  }
}
