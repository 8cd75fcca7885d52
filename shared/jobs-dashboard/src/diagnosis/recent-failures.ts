import { formatNumber } from '../format/count.js';
import { excerpt } from '../format/excerpt.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** The span that is looked at, in milliseconds, and how finely it is counted. */
export const recently = { sinceMs: 10 * 60_000, bucketMs: 10_000 } as const;

/** What ended within {@link recently}. */
export interface RecentThroughput {
  readonly done: number;
  readonly failed: number;
  /** What most of the failures have in common; `null` if it was not looked for. */
  readonly common: CommonFailures | null;
}

export interface CommonFailures {
  /** Where most jobs failed, and how many. */
  readonly queue: { readonly name: string; readonly failed: number } | null;
  /** The error that most of them ended with. `most`: no other may be as frequent. */
  readonly error: { readonly name: string; readonly message: string; readonly most: boolean } | null;
}

/** So many are no accident, and so large a part of all is no ordinary day. */
const MANY = 5;
const LARGE_PART = 0.2;

const MAX_MESSAGE = 120;

export function areManyFailures({ done, failed }: Pick<RecentThroughput, 'done' | 'failed'>): boolean {
  return failed >= MANY && failed >= LARGE_PART * (done + failed);
}

/** That much of what ends has failed; where most of it, and with what error. */
export function failureWarning(recent: RecentThroughput): Warning[] {
  if (!areManyFailures(recent)) return [];
  const { done, failed } = recent;
  const ended = done + failed;
  const share =
    failed === ended ? `All ${formatNumber(ended)}` : `${formatNumber(failed)} of the ${formatNumber(ended)}`;
  return [
    {
      text: sentence`${share} jobs that ended in the last 10 minutes have failed.`,
      advice: inCommon(recent) || 'See what they have in common.',
      link: 'errors?since=1h',
    },
  ];
}

/** `4,503 of 4,541 in queue “bulk”; most often HttpError: upstream said 503` */
function inCommon({ failed, common }: RecentThroughput): string {
  const { queue = null, error = null } = common ?? {};
  const parts: string[] = [];
  if (queue !== null) {
    // The queue's minute and the ten seconds of all begin at different times.
    const share = queue.failed < failed ? `${formatNumber(queue.failed)} of ${formatNumber(failed)}` : 'All';
    parts.push(`${share} in queue “${queue.name}”`);
  }
  if (error !== null) {
    const [line = ''] = error.message.split('\n', 1);
    const message = line === '' ? '' : `: ${excerpt(line, MAX_MESSAGE)}`;
    parts.push(`${error.most ? 'most often' : 'often'} ${error.name}${message}`);
  }
  return parts.join('; ');
}
