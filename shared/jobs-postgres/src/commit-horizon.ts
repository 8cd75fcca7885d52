/** A transaction that has been seen under way for so long notes its places as gaps; it is not waited for. */
const longMs = 5_000;

/** An observation counts when it is at least this old: a place is taken an instant before its transaction has a number. */
const settledMs = 5;

interface Observation {
  readonly seq: bigint;
  /** The first transaction that had not begun. */
  readonly xmax: bigint;
  readonly atMs: number;
}

/**
 * Up to which place of the order every job is visible that ever will be. Places are taken in one order and become visible in
 * another, when their transactions commit: a scan may forget what lies before the horizon, and must come back to the rest.
 * Made from snapshots (see "Snapshot information functions" in the manual of Postgres), so it is exact and guesses no times.
 */
export class CommitHorizon {
  #observations: Observation[] = [];
  /** Transactions under way, and since when they have been seen. */
  #underWay = new Map<bigint, number>();
  #place = 0n;

  /** 0 until enough has been observed. */
  get place(): bigint {
    return this.#place;
  }

  /**
   * @param snapshot `xmin:xmax:xip,…`
   * @param seq the last place given out, read under this snapshot
   */
  observe(snapshot: string, seq: bigint, nowMs: number): void {
    const [, xmax = '0', underWay = ''] = snapshot.split(':');
    const ids = underWay === '' ? [] : underWay.split(',').map(BigInt);
    this.#underWay = new Map(ids.map((id) => [id, this.#underWay.get(id) ?? nowMs]));
    const oldest = ids.find((id) => nowMs - (this.#underWay.get(id) ?? nowMs) < longMs) ?? BigInt(xmax);
    const isPast = (observation: Observation): boolean =>
      observation.xmax <= oldest && nowMs - observation.atMs >= settledMs;
    for (const observation of this.#observations) {
      if (isPast(observation) && observation.seq > this.#place) this.#place = observation.seq;
    }
    this.#observations = this.#observations.filter((observation) => !isPast(observation));
    this.#observations.push({ seq, xmax: BigInt(xmax), atMs: nowMs });
  }
}
