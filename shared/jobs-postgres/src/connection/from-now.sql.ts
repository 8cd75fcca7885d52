import { bounds } from '@longshore/jobs/storage';

/**
 * Returns SQL for the time `ms` milliseconds from now; null for null. Clamped to the bounds of a delay, so that no row can
 * make the statement that moves it fail.
 */
export function fromNow(ms: string): string {
  return `case when ${ms} is not null then now() + least(greatest(${ms}, 0), ${bounds.delayMs.most}) * interval '1 millisecond' end`;
}
