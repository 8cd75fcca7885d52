import { bounds } from '@longshore/jobs/storage';

/**
 * Returns SQL for the time at which a job scheduled for `time` is due: now, if `time` has passed. The scan for due jobs could
 * miss a job with an earlier time, because its cursor may already have moved on.
 */
export function dueFrom(time: string): string {
  return `greatest(${time}, now())`;
}

/**
 * Returns SQL for the time `ms` milliseconds from now; null for null. The delay is clamped to its valid range, so that a row
 * with an invalid one does not make the statement fail.
 */
export function fromNow(ms: string): string {
  return `case when ${ms} is not null then now() + least(greatest(${ms}, 0), ${bounds.delayMs.max}) * interval '1 millisecond' end`;
}
