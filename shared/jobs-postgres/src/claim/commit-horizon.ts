/**
 * How long, in milliseconds, an open transaction can hold back the horizon. Jobs of longer transactions are found
 * through the gaps that those transactions record.
 */
const longMs = 5_000;

/**
 * Maximum time, in milliseconds, that is assumed to pass from when a transaction takes a sequence number until it gets
 * its transaction id.
 */
const maxXidDelayMs = 5;

interface Observation {
  readonly seq: bigint;
  readonly atMs: number;
  /**
   * Upper bound of the ids of all transactions that may have taken sequence numbers up to `seq`; `null` while unknown.
   */
  mark: bigint | null;
}

/**
 * Tracks the commit horizon: the sequence number (`seq`) up to which no more jobs will become visible, except in gaps.
 * Numbers become visible in the order of commits, not in the order in which they were assigned. Scans therefore never
 * need to read the numbers before the horizon again, only those after it. The horizon is derived from snapshots (see
 * "Snapshot information functions" in the Postgres manual).
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
   * Records a snapshot and a sequence number as an observation. Advances the horizon to each earlier observation if all
   * transactions that may have taken numbers up to it have ended, or have been in progress for longer than {@link
   * longMs}.
   *
   * @param snapshot `xmin:xmax:xip,…`. It lists the transactions in progress with ids below `xmax`; those with higher
   *   ids may be in progress too
   * @param seq the last sequence number assigned, read under this snapshot
   * @param mark the id that the reading transaction got after the snapshot; `null` if it has none. Observations without
   *   a mark then wait for a later call
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
