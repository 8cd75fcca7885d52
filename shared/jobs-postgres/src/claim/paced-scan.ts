/**
 * Length of the pause after a slow scan, as a multiple of the time by which the scan exceeded `quickMs`. Limits slow
 * scans to about two percent of one processor.
 */
const factor = 50;

/**
 * Limits how often an expensive scan runs, namely one that has to skip the dead index entries of all finished jobs.
 * After a fast scan, the next one is due at once; after a slow scan, only after a pause that grows with its duration.
 * Scans are slow, for example, while a forgotten transaction keeps a million dead entries from being vacuumed.
 */
export class PacedScan {
  readonly #quickMs: number;
  #nextAtMs = -Infinity;

  /** @param quickMs maximum duration, in milliseconds, of a scan that is not followed by a pause; 200 by default */
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
