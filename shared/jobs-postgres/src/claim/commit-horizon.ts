/**
 * Transactions that have been seen in progress for longer than this, in milliseconds, no longer hold back the horizon:
 * they record the sequence numbers of their jobs as gaps.
 */
const longMs = 5_000;

/** Maximum time, in milliseconds, between a transaction taking a sequence number and getting its transaction id. */
const maxXidDelayMs = 5;

interface Observation {
  readonly seq: bigint;
  readonly atMs: number;
  /**
   * Upper bound of the ids of all transactions that may have taken a sequence number up to `seq`; `null` while unknown.
   */
  mark: bigint | null;
}

/**
 * The sequence number (`seq`) up to which all jobs are visible: no more jobs will appear there, except in gaps. Numbers
 * are assigned in one order but become visible in the order of commits. A scan therefore need not return to numbers
 * before the horizon, but must scan those after it again. Derived from snapshots (see "Snapshot information functions"
 * in the Postgres manual).
 */
export class CommitHorizon {
  #observations: Observation[] = [];
  /** Transactions in progress, by id, with the time at which each was first seen. */
  #inProgress = new Map<bigint, number>();
  #place = 0n;

  /** The horizon; 0 until enough snapshots have been observed. */
  get place(): bigint {
    return this.#place;
  }

  /**
   * Records a snapshot, and advances the horizon if it shows that the transactions up to an earlier observation have
   * ended.
   *
   * @param snapshot `xmin:xmax:xip,…`. It lists the transactions in progress with ids below `xmax`; those with higher
   *   ids may be in progress too
   * @param seq the last sequence number assigned, read under this snapshot
   * @param mark the id assigned to this transaction after the snapshot; `null` if it has none, so that observations
   *   that need such an id wait for a later call
   */
  observe(snapshot: string, seq: bigint, mark: bigint | null, nowMs: number): void {
    const [, xmax = '0', underWay = ''] = snapshot.split(':');
    const ids = underWay === '' ? [] : underWay.split(',').map(BigInt);
    this.#inProgress = new Map(ids.map((id) => [id, this.#inProgress.get(id) ?? nowMs]));
    const oldest = ids.find((id) => nowMs - (this.#inProgress.get(id) ?? nowMs) < longMs) ?? BigInt(xmax);
    const isPast = (observation: Observation): boolean =>
      observation.mark !== null && observation.mark < oldest;
    for (const observation of this.#observations) {
      if (isPast(observation) && observation.seq > this.#place) this.#place = observation.seq;
    }
    this.#observations = this.#observations.filter((observation) => !isPast(observation));
    for (const observation of this.#observations)
      if (nowMs - observation.atMs >= maxXidDelayMs) observation.mark ??= mark;
    if (seq > this.#place) this.#observations.push({ seq, atMs: nowMs, mark: null });
  }
}
