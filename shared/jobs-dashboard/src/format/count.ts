import type { JobCount, RateLimit } from '@longshore/jobs/storage';
import { formatDuration } from './time.js';

const digits = new Intl.NumberFormat('en-US');

/** Formats a number with thousands separators: `12,345`. */
export function formatNumber(value: number): string {
  return digits.format(value);
}

/** Formats a count: `10,000`, or `10,000+` if it is a lower bound. */
export function formatCount({ count, exact }: JobCount): string {
  return exact ? formatNumber(count) : `${formatNumber(count)}+`;
}

/** Formats a number with its noun: `1 job`, `2,000 jobs`. */
export function counted(value: number, one: string, many: string = `${one}s`): string {
  return `${formatNumber(value)} ${value === 1 ? one : many}`;
}

/** Formats a count of jobs: `1 job`, `at least 10,000 jobs`. */
export function countedJobs({ count, exact }: JobCount): string {
  return `${exact ? '' : 'at least '}${counted(count, 'job')}`;
}

/** Formats a share from 0 to 1 as a percentage. Shares other than 0 and 1 are never shown as `0 %` or `100 %`. */
export function formatShare(share: number): string {
  const percent = 100 * share;
  if (percent > 0 && percent < 1) return percent < 0.1 ? 'under 0.1 %' : `${percent.toFixed(1)} %`;
  return percent > 99 && percent < 100 ? 'over 99 %' : `${Math.round(percent)} %`;
}

/** Formats a rate limit: `100 per min`, `10 per 2 s`. */
export function formatRate({ jobs, periodMs }: Pick<RateLimit, 'jobs' | 'periodMs'>): string {
  const period = formatDuration(periodMs)
    .replace('.0 ', ' ')
    .replace(/^1 (?!.* )/, '');
  return `${formatNumber(jobs)} per ${period}`;
}
