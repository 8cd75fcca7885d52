/** A transaction that has been seen under way for so long notes its places as gaps; it is not waited for. */
const longMs = 5_000;

/** A transaction takes its places an instant before it gets its number: by so many milliseconds later it has one. */
const numberedMs = 5;

interface Observation {
  readonly seq: bigint;
  readonly atMs: number;
  /** Every transaction that may have taken a place up to `seq` has a smaller number; `null` until one is known to be large enough. */
  mark: bigint | null;
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
   * @param snapshot `xmin:xmax:xip,…`. It lists only transactions below `xmax`, and others may be under way
   * @param seq the last place given out, read under this snapshot
   * @param mark the number of this transaction, given to it afterwards. Without one, nothing is learned about transactions
   * that the snapshot does not list, and so the horizon stays where it is until a later observation brings one
   */
  observe(snapshot: string, seq: bigint, mark: bigint | null, nowMs: number): void {
    const [, xmax = '0', underWay = ''] = snapshot.split(':');
    const ids = underWay === '' ? [] : underWay.split(',').map(BigInt);
    this.#underWay = new Map(ids.map((id) => [id, this.#underWay.get(id) ?? nowMs]));
    const oldest = ids.find((id) => nowMs - (this.#underWay.get(id) ?? nowMs) < longMs) ?? BigInt(xmax);
    const isPast = (observation: Observation): boolean =>
      observation.mark !== null && observation.mark < oldest;
    for (const observation of this.#observations) {
      if (isPast(observation) && observation.seq > this.#place) this.#place = observation.seq;
    }
    this.#observations = this.#observations.filter((observation) => !isPast(observation));
    for (const observation of this.#observations)
      if (nowMs - observation.atMs >= numberedMs) observation.mark ??= mark;
    if (seq > this.#place) this.#observations.push({ seq, atMs: nowMs, mark: null });
  }
}
