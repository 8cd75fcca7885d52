import type { RateLimit } from '@longshore/jobs/storage';
import { formatNumber } from './count.js';
import { formatDuration } from './duration.js';

/** Formats a rate limit: `100 per min`, `10 per 2 s`. */
export function formatRate({ jobs, periodMs }: Pick<RateLimit, 'jobs' | 'periodMs'>): string {
  const period = formatDuration(periodMs)
    .replace('.0 ', ' ')
    .replace(/^1 (?!.* )/, '');
  return `${formatNumber(jobs)} per ${period}`;
}
