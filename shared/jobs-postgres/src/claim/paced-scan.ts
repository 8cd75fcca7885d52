/**
 * Length of the pause after a slow scan, as a multiple of the time by which the scan was too slow. Limits such scans to
 * about two percent of one processor.
 */
const factor = 50;

/**
 * Limits how often a scan runs that has to skip the dead index entries of all finished jobs. A fast scan is always due.
 * A slow one, for example while a forgotten transaction keeps a million dead entries from being vacuumed, is rarely
 * due.
 */
export class PacedScan {
  readonly #quickMs: number;
  #nextAtMs = -Infinity;

  /** @param quickMs duration in milliseconds up to which a scan is not followed by a pause */
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
