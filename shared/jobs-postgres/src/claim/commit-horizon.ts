/** Transactions that run longer than this record their places as gaps, so the horizon does not wait for them. */
const longMs = 5_000;

/** A transaction takes its places just before it is assigned an id; after this many milliseconds it has one. */
const numberedMs = 5;

interface Observation {
  readonly seq: bigint;
  readonly atMs: number;
  /** An upper bound for the ids of all transactions that may have taken a place up to `seq`; `null` until one is known. */
  mark: bigint | null;
}

/**
 * The place up to which every job that will ever be visible is visible. Places are taken in one order but become visible in
 * commit order, so a scan may forget what lies before the horizon and must revisit the rest. Derived from snapshots (see
 * "Snapshot information functions" in the Postgres manual), so it is exact and does not depend on clocks.
 */
export class CommitHorizon {
  #observations: Observation[] = [];
  /** Transactions in progress and when each was first seen. */
  #underWay = new Map<bigint, number>();
  #place = 0n;

  /** Returns 0 until enough has been observed. */
  get place(): bigint {
    return this.#place;
  }

  /**
   * @param snapshot `xmin:xmax:xip,…`; lists only transactions below `xmax`, although others may be in progress
   * @param seq the last place assigned, read under this snapshot
   * @param mark the id assigned to this transaction after the snapshot; without one, the horizon stays where it is until a
   *   later observation provides one
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
