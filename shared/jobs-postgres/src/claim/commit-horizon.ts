/**
 * How long an open transaction can hold back the horizon, in milliseconds. Longer transactions record gaps, and scans
 * find the jobs through these gaps.
 */
export const longMs = 5_000;

/** Assumed maximum time between taking a sequence number and getting a transaction id, in milliseconds. */
export const maxXidDelayMs = 5;

interface Observation {
  readonly seq: bigint;
  readonly atMs: number;
  /**
   * Upper bound of the ids of transactions that might have taken sequence numbers up to `seq`; `null` while unknown.
   */
  mark: bigint | null;
}

/**
 * Tracks the commit horizon: the sequence number (`seq`) up to which no more jobs will become visible, except in gaps.
 * Jobs become visible when their transactions commit, not in the order of their numbers. Scans must therefore read the
 * numbers after the horizon repeatedly, but need not read those before it again. The horizon is derived from snapshots
 * (see "Snapshot information functions" in the Postgres manual).
 */
export class CommitHorizon {
  #observations: Observation[] = [];
  /** Maps the id of each transaction in progress to the time when it was first seen. */
  #inProgress = new Map<bigint, number>();
  #seq = 0n;

  /** The horizon; 0 until it first advances. */
  get place(): bigint {
    return this.#seq;
  }

  /**
   * Records a snapshot and a sequence number as an observation. Advances the horizon to an earlier observation once all
   * transactions that might have taken numbers up to it have ended. Ignores transactions that have been in progress for
   * {@link longMs} or longer.
   *
   * @param snapshot `xmin:xmax:xip,…`: lists the transactions in progress with ids below `xmax`; later transactions
   *   might be in progress, too
   * @param seq the last sequence number assigned, read under this snapshot
   * @param mark the id that the reading transaction got after the snapshot; `null` if it has none. Becomes the mark of
   *   earlier observations that have none yet and are at least {@link maxXidDelayMs} old
   */
  observe(snapshot: string, seq: bigint, mark: bigint | null, nowMs: number): void {
    const { xmax, inProgress: ids } = parseSnapshot(snapshot);
    this.#inProgress = new Map(ids.map((id) => [id, this.#inProgress.get(id) ?? nowMs]));
    const oldest = ids.find((id) => nowMs - (this.#inProgress.get(id) ?? nowMs) < longMs) ?? xmax;
    const isPast = (observation: Observation): boolean =>
      observation.mark !== null && observation.mark < oldest;
    for (const observation of this.#observations) {
      if (isPast(observation) && observation.seq > this.#seq) this.#seq = observation.seq;
    }
    this.#observations = this.#observations.filter((observation) => !isPast(observation));
    for (const observation of this.#observations)
      if (nowMs - observation.atMs >= maxXidDelayMs) observation.mark ??= mark;
    if (seq > this.#seq) this.#observations.push({ seq, atMs: nowMs, mark: null });
  }
}

/** The ids of the transactions that a snapshot does not see. */
export interface Snapshot {
  /** All transactions with this id or a higher one are missing, whether they have ended since or have not begun. */
  readonly xmax: bigint;
  /** The ids below `xmax` of the transactions in progress, in ascending order. */
  readonly inProgress: readonly bigint[];
}

/**
 * Parses a snapshot as Postgres writes it: `xmin:xmax:xip,…` (see "Snapshot information functions" in its manual). It does not
 * list transactions in progress whose ids are higher than those of all finished ones.
 */
export function parseSnapshot(text: string): Snapshot {
  const [, xmax = '0', inProgress = ''] = text.split(':');
  return { xmax: BigInt(xmax), inProgress: inProgress === '' ? [] : inProgress.split(',').map(BigInt) };
}
