import { bounds } from '@longshore/jobs';

/**
 * SQL of the time so many milliseconds from now; null for null. What is beyond the bounds of a delay counts as the nearest
 * that is within them, so that no row can make the statement fail that moves it.
 */
export function fromNow(ms: string): string {
  return `case when ${ms} is not null then now() + least(greatest(${ms}, 0), ${bounds.delayMs.most}) * interval '1 millisecond' end`;
}
