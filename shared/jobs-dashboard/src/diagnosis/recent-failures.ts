import { shorten } from '@longshore/edge';
import { formatNumber } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** The period that counts as recent, and the length of its buckets, in milliseconds. */
export const recently = { sinceMs: 10 * 60_000, bucketMs: 10_000 } as const;

/** The numbers of jobs that finished recently, as defined by {@link recently}. */
export interface RecentThroughput {
  readonly done: number;
  readonly failed: number;
  /** The most affected queue and the most frequent error; `null` if there are too few failures for a warning. */
  readonly common: CommonFailures | null;
}

export interface CommonFailures {
  /** The queue with the most failures, and their number; `null` if no queue has any. */
  readonly queue: { readonly name: string; readonly failed: number } | null;
  /** Lower bound for the number of recent failures that are still stored. The others have been retried or deleted. */
  readonly stored: number;
  /**
   * The most frequent error; `null` if none is stored. `most` is `false` if another error might be more frequent,
   * because the numbers are only lower bounds.
   */
  readonly error: { readonly name: string; readonly message: string; readonly most: boolean } | null;
}

/** For a warning, at least `MANY` jobs, and at least the share `LARGE_PART` of the finished jobs, must have failed. */
const MANY = 5;
const LARGE_PART = 0.2;

const MAX_MESSAGE = 120;

export function areManyFailures({ done, failed }: Pick<RecentThroughput, 'done' | 'failed'>): boolean {
  return failed >= MANY && failed >= LARGE_PART * (done + failed);
}

/**
 * Returns a warning if many of the recently finished jobs failed. Returns none if fewer than `MANY` of the failures are
 * still stored, because the others have been retried or deleted. The warning names the most affected queue and error,
 * if they are known.
 */
export function failureWarning(recent: RecentThroughput): Warning[] {
  const { done, failed, common } = recent;
  if (!areManyFailures(recent) || (common !== null && common.stored < MANY)) return [];
  const ended = done + failed;
  const share =
    failed === ended ? `All ${formatNumber(ended)}` : `${formatNumber(failed)} of the ${formatNumber(ended)}`;
  return [
    {
      cause: 'many jobs fail',
      isMeasured: true,
      text: sentence`${share} jobs that finished in the last 10 minutes failed.`,
      advice: inCommon(recent) || 'Check what they have in common.',
      link: 'errors?since=1h',
    },
  ];
}

/** Returns text such as `4,503 of 4,541 in queue “bulk”; most often HttpError: upstream said 503`. */
function inCommon({ failed, common }: RecentThroughput): string {
  const { queue = null, error = null } = common ?? {};
  const parts: string[] = [];
  if (queue !== null) {
    // The queue's number can exceed the total, because they are counted in buckets of different lengths. The text is
    // “All” in that case, too.
    const share = queue.failed < failed ? `${formatNumber(queue.failed)} of ${formatNumber(failed)}` : 'All';
    parts.push(`${share} in queue “${queue.name}”`);
  }
  if (error !== null) {
    const [line = ''] = error.message.split('\n', 1);
    const message = line === '' ? '' : `: ${shorten(line, MAX_MESSAGE, '…')}`;
    parts.push(`${error.most ? 'most often' : 'often'} ${error.name}${message}`);
  }
  return parts.join('; ');
}
