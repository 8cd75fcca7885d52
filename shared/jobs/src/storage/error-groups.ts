export interface ErrorGroupQuery {
  /** Failures of the last so many milliseconds. */
  readonly sinceMs: number;
  /** At most so many groups; 100 by default. */
  readonly limit?: number;
}

/** Jobs of one name whose latest failure is of one kind. */
export interface ErrorGroup {
  /** Of the jobs. */
  name: string;
  /** As `errorFingerprint` gives it; `errorFingerprint` of a filter finds the jobs. */
  fingerprint: string;
  /** Jobs: those that failed, and those that wait for another attempt. */
  count: number;
  /** Of these, jobs in state `failed`: those that can be sent back. */
  retryable: number;
  /** `false`: more failed than were counted. */
  failedExact: boolean;
  /** `false`: more wait for another attempt than were counted. */
  waitingExact: boolean;
  firstSeenAt: Date;
  lastSeenAt: Date;
  /** Of the latest failure. */
  message: string;
  /** The job of the latest failure. */
  exampleId: string;
}

export interface ErrorGroups {
  /** The largest first, as far as they were counted; of those of a size, the one that was seen last. */
  readonly groups: ErrorGroup[];
  /** `false`: there may be further groups. */
  readonly complete: boolean;
}

/** A job's latest failure. */
export interface Failure {
  readonly jobId: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly message: string;
  readonly at: Date;
  readonly retryable: boolean;
}

/** Groups of failures, in no order. */
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

/** One of those that bear the same name and fingerprint, in no order. */
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

/** The largest of all the groups that were found. */
export function largestGroups(
  groups: readonly ErrorGroup[],
  { limit = 100 }: Pick<ErrorGroupQuery, 'limit'>,
): ErrorGroups {
  const sorted = groups.toSorted(
    (one, other) => other.count - one.count || other.lastSeenAt.getTime() - one.lastSeenAt.getTime(),
  );
  return { groups: sorted.slice(0, limit), complete: sorted.length <= limit };
}
