/**
 * A slow scan is followed by a pause of this many times its duration, so it takes about two percent of one processor.
 */
const factor = 50;

/**
 * Paces a scan that has to skip the dead index entries of all finished jobs. While it is fast, it is always due; while a
 * forgotten transaction keeps a million dead entries from being vacuumed, it is rarely due.
 */
export class PacedScan {
  readonly #quickMs: number;
  #nextAtMs = -Infinity;

  /** @param quickMs scans that take no longer than this are not followed by a pause */
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
