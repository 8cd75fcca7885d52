import type { JobCount } from '@longshore/jobs/storage';

const digits = new Intl.NumberFormat('en-US');

/** `12,345` */
export function formatNumber(value: number): string {
  return digits.format(value);
}

/** `10,000`, or `10,000+` if the count is a lower bound. */
export function formatCount({ count, exact }: JobCount): string {
  return exact ? formatNumber(count) : `${formatNumber(count)}+`;
}

/** `1 job`, `2,000 jobs` */
export function counted(value: number, one: string, many: string = `${one}s`): string {
  return `${formatNumber(value)} ${value === 1 ? one : many}`;
}

/** `1 job`, `at least 10,000 jobs` */
export function countedJobs({ count, exact }: JobCount): string {
  return `${exact ? '' : 'at least '}${counted(count, 'job')}`;
}
