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
