export interface ErrorGroupQuery {
  /** Only failures within the last `sinceMs` milliseconds. */
  readonly sinceMs: number;
  /** Maximum number of groups; 100 by default. */
  readonly limit?: number;
}

/** Jobs with the same name whose latest failures have the same fingerprint. */
export interface ErrorGroup {
  name: string;
  /** The `errorFingerprint` of the failures. A {@link JobFilter} with this value finds the jobs. */
  fingerprint: string;
  /** Number of jobs in the group: failed jobs and jobs that wait for another attempt. */
  count: number;
  /** Number of jobs in state `failed`; these can be retried manually. */
  retryable: number;
  /** `false` if the group contains more jobs in state `failed` than were counted. */
  failedExact: boolean;
  /** `false` if the group contains more jobs waiting for another attempt than were counted. */
  waitingExact: boolean;
  /**
   * When a job with this name first failed with this fingerprint; can be before the queried time span. Recorded within
   * about a minute of the failure. Does not change if the job is later retried or deleted.
   */
  firstSeenAt: Date;
  lastSeenAt: Date;
  /** The message of the latest failure. */
  message: string;
  /** The id of the job that failed most recently. */
  exampleId: string;
}

export interface ErrorGroups {
  /**
   * The groups with the highest counts, in descending order. Groups with equal counts are sorted by latest failure,
   * newest first.
   */
  readonly groups: ErrorGroup[];
  /** `false` if there may be further groups. */
  readonly complete: boolean;
}

/**
 * Limits the records of when each kind of error first occurred. A kind is a job name and a fingerprint.
 *
 * `days` is how long a kind is kept after its latest occurrence. `max` is the maximum number of kinds.
 */
export const errorKindsKept = { days: 90, max: 10_000 } as const;

/** A job's latest failure. */
export interface Failure {
  readonly jobId: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly message: string;
  readonly at: Date;
  readonly retryable: boolean;
}

/** Groups failures by job name and fingerprint. The result is in no particular order. */
export function groupFailures(failures: Iterable<Failure>): ErrorGroup[] {
  const groups: ErrorGroup[] = [];
  for (const { jobId, at, retryable, ...kind } of failures)
    groups.push({
      ...kind,
      count: 1,
      retryable: retryable ? 1 : 0,
      failedExact: true,
      waitingExact: true,
      firstSeenAt: at,
      lastSeenAt: at,
      exampleId: jobId,
    });
  return mergeGroups(groups);
}

/** Merges groups with the same job name and fingerprint. The result is in no particular order. */
export function mergeGroups(groups: Iterable<ErrorGroup>): ErrorGroup[] {
  const merged = new Map<string, ErrorGroup>();
  for (const group of groups) {
    const key = `${group.name}\n${group.fingerprint}`;
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { ...group });
    else add(known, group);
  }
  return [...merged.values()];
}

function add(known: ErrorGroup, group: ErrorGroup): void {
  const { count, retryable, failedExact, waitingExact, firstSeenAt, lastSeenAt, message, exampleId } = group;
  known.count += count;
  known.retryable += retryable;
  known.failedExact &&= failedExact;
  known.waitingExact &&= waitingExact;
  if (firstSeenAt < known.firstSeenAt) known.firstSeenAt = firstSeenAt;
  if (lastSeenAt > known.lastSeenAt) Object.assign(known, { lastSeenAt, message, exampleId });
}

/** Returns the groups with the highest counts, in descending order; at most `limit` (100 by default). */
export function largestGroups(
  groups: readonly ErrorGroup[],
  { limit = 100 }: Pick<ErrorGroupQuery, 'limit'>,
): ErrorGroups {
  const sorted = groups.toSorted(
    (one, other) => other.count - one.count || other.lastSeenAt.getTime() - one.lastSeenAt.getTime(),
  );
  return { groups: sorted.slice(0, limit), complete: sorted.length <= limit };
}
