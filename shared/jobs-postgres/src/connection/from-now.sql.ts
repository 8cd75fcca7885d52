import { bounds } from '@longshore/jobs/storage';

/**
 * Returns SQL for when a job is due that is scheduled for `time`: not before this transaction. A scheduled job whose time had
 * already passed would lie behind the scan cursor of due jobs.
 */
export function dueFrom(time: string): string {
  return `greatest(${time}, now())`;
}

/**
 * Returns SQL for the time `ms` milliseconds from now; null for null. Clamped to the bounds of a delay, so that no row can
 * make the statement that moves it fail.
 */
export function fromNow(ms: string): string {
  return `case when ${ms} is not null then now() + least(greatest(${ms}, 0), ${bounds.delayMs.most}) * interval '1 millisecond' end`;
}
