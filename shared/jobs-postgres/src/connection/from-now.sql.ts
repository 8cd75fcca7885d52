import { bounds } from '@longshore/jobs/storage';

/**
 * Returns an SQL expression for the time at which a job scheduled for `time` is due. A past time becomes the current
 * time, because the cursor of the scan for due jobs might already have passed it.
 */
export function dueFrom(time: string): string {
  return `greatest(${time}, now())`;
}

/**
 * Returns an SQL expression for the time `ms` milliseconds from now; the expression is null if `ms` is null. The delay
 * is clamped to the valid range, so that a row with an invalid delay does not make the statement fail.
 */
export function fromNow(ms: string): string {
  return `case when ${ms} is not null then now() + least(greatest(${ms}, 0), ${bounds.delayMs.max}) * interval '1 millisecond' end`;
}
