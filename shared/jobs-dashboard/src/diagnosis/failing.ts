import type { Job } from '@longshore/jobs';
import { formatNumber } from '../format/count.js';
import { told } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** The span that is looked at, in milliseconds, and how finely it is counted. */
export const recently = { sinceMs: 10 * 60_000, bucketMs: 10_000 } as const;

/** What ended within {@link recently}. */
export interface RecentEnds {
  readonly done: number;
  readonly failed: number;
  /** A few of the jobs that failed last, the newest first; older ones may be among them. */
  readonly newestFailed: readonly Job[];
}

/** So many are no accident, and so large a part of all is no ordinary day. */
const MANY = 5;
const LARGE_PART = 0.2;

/** That much of what ends has failed; where, if the newest all failed in one queue. */
export function failureWarning(recent: RecentEnds, nowMs: number): Warning[] {
  const { done, failed } = recent;
  const ended = done + failed;
  if (failed < MANY || failed < LARGE_PART * ended) return [];
  const newest = recent.newestFailed.filter((job) => isRecent(job, nowMs));
  const queues = new Set(newest.map(({ queue }) => queue));
  const [queue] = queues;
  const where = queues.size === 1 ? ` The newest of them were in queue “${queue}”.` : '';
  const latest = newest[0]?.error;
  const what = latest ? ` The latest error is ${latest.name}.` : '';
  const share =
    failed === ended ? `All ${formatNumber(ended)}` : `${formatNumber(failed)} of the ${formatNumber(ended)}`;
  return [
    {
      text: told`${share} jobs that ended in the last 10 minutes have failed.`,
      advice: `See what they have in common.${where}${what}`,
      link: 'errors?since=1h',
    },
  ];
}

function isRecent({ finishedAt }: Job, nowMs: number): boolean {
  return finishedAt !== null && nowMs - finishedAt.getTime() <= recently.sinceMs;
}
