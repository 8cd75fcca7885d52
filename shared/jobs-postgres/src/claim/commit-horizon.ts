/**
 * Transactions that have run for longer than this, in milliseconds, do not hold back the horizon: they record their
 * places as gaps.
 */
const longMs = 5_000;

/** Maximum time from when a transaction takes a place until it is assigned an id, in milliseconds. */
const numberedMs = 5;

interface Observation {
  readonly seq: bigint;
  readonly atMs: number;
  /** An upper bound for the ids of all transactions that may have taken a place up to `seq`; `null` until one is known. */
  mark: bigint | null;
}

/**
 * The place up to which all jobs are visible: no other job will appear there later, except in a gap. Places are assigned in
 * one order but become visible in the order of commits, so a scan need not return to places before the horizon, but must
 * revisit those after it. Derived from snapshots (see "Snapshot information functions" in the Postgres manual).
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
   * @param snapshot `xmin:xmax:xip,…`; lists the transactions in progress below `xmax`, although later ones may be, too
   * @param seq the last place assigned, read under this snapshot
   * @param mark the id assigned to this transaction after the snapshot; with `null`, earlier observations that still need
   *   such an id wait for a later call
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
