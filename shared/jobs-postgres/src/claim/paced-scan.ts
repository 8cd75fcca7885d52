/** A scan is repeated no sooner than this many times its last duration: two percent of one processor. */
const factor = 50;

/**
 * Paces a scan that has to skip the dead index entries of all finished jobs: it runs every time while it is fast, and rarely
 * while a forgotten transaction leaves a million dead entries in its way.
 */
export class PacedScan {
  readonly #quickMs: number;
  #nextAtMs = -Infinity;

  /** @param quickMs scans up to this duration are not paced */
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
