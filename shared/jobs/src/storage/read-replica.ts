/** Whether a storage uses its read replica for searches, and how far the replica is behind. */
export interface ReadReplicaStatus {
  /** How far the replica is behind the primary, in milliseconds; `null` if it is unknown, as while it cannot be reached. */
  readonly lagMs: number | null;
  /** The lag up to which searches use the replica, in milliseconds. */
  readonly maxLagMs: number;
  /** Why searches use the primary instead, without addresses; `null` while they use the replica. */
  readonly fallback: string | null;
}
