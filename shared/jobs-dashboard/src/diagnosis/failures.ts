import { shorten } from '@longshore/edge';
import type { ErrorGroup, NameTiming, Queue } from '@longshore/jobs/storage';
import { totalOf } from '../format/chart.js';
import { counted, formatNumber } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
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

interface CommonFailures {
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

function areManyFailures({ done, failed }: Pick<RecentThroughput, 'done' | 'failed'>): boolean {
  return failed >= MANY && failed >= LARGE_PART * (done + failed);
}

const MAX_MESSAGE = 120;

/** Returns an error as one line, such as `HttpError: upstream said 503`. The message can be empty. */
export function errorLine(name: string, message: string): string {
  const [line = ''] = message.split('\n', 1);
  return line === '' ? name : `${name}: ${shorten(line, MAX_MESSAGE, '…')}`;
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
    parts.push(`${error.most ? 'most often' : 'often'} ${errorLine(error.name, error.message)}`);
  }
  return parts.join('; ');
}

/** Maximum number of queues whose throughput is read. Those with the most failed jobs take precedence. */
const MAX_QUEUES = 100;

/**
 * Returns what most of the recent failures have in common; `null` if there are too few failures for a warning.
 *
 * @param ended how many jobs recently succeeded, and how many failed
 */
export async function readCommonFailures(
  ended: Pick<RecentThroughput, 'done' | 'failed'>,
  queues: readonly Queue[],
  reader: ReadingContext['reader'],
): Promise<CommonFailures | null> {
  if (!areManyFailures(ended)) return null;
  const { sinceMs } = recently;
  const names = queues
    .toSorted((one, other) => other.counts.failed - one.counts.failed)
    .slice(0, MAX_QUEUES)
    .map(({ name }) => name);
  const [byQueue, { groups }] = await Promise.all([
    reader.statistics.throughputByQueue({ queues: names, sinceMs, bucketMs: MINUTE_MS }),
    reader.statistics.listErrorGroups({ sinceMs }),
  ]);
  const failed = Array.from(byQueue, ([name, buckets]) => ({ name, failed: totalOf(buckets).failed }));
  const [queue] = failed.toSorted((one, other) => other.failed - one.failed);
  return {
    queue: queue !== undefined && queue.failed > 0 ? queue : null,
    stored: groups.reduce((sum, { retryable }) => sum + retryable, 0),
    error: mostFrequent(groups),
  };
}

function mostFrequent(groups: readonly ErrorGroup[]): CommonFailures['error'] {
  const [largest] = groups.toSorted((one, other) => other.retryable - one.retryable);
  if (largest === undefined || largest.retryable === 0) return null;
  const { fingerprint, message, failedExact } = largest;
  const most = failedExact || groups.filter((group) => !group.failedExact).length === 1;
  return { name: fingerprint.split(': ', 1)[0] ?? '', message, most };
}

/**
 * A job type is judged by the last minute or by the last five minutes, whichever has the larger share of failed
 * attempts. One minute reveals a bad deployment early, and five minutes reveal occasional failures. The last day shows
 * how often the type usually fails, because an incident of an hour hardly affects the share of a whole day.
 */
const MINUTE_MS = 60_000;
const RECENT_MS = 5 * MINUTE_MS;
const USUAL_MS = 24 * 3_600_000;

/** Minimum number of failed attempts for a warning. Fewer failures can be chance. */
const MIN_FAILED = 5;
/** Minimum share of failed attempts for a warning, from 0 to 1. */
const MIN_SHARE = 0.2;
/** A job type gets a warning if it fails at least this many times as often as usual. */
const FACTOR = 3;
/** Minimum number of earlier attempts. With fewer, it is unknown how often the job type usually fails. */
const MIN_USUAL = 20;
/** A job type with at least this share of failures gets a warning even if that share is usual for it. */
const ALWAYS = 0.9;
const MAX_NAMES = 200;

/** A job type that is failing often enough for a warning: unusually often, or almost always. */
export interface FailingType {
  readonly name: string;
  /** The share of recent attempts that failed, from 0 to 1. */
  readonly share: number;
  /** Whether `share` is for the last minute rather than the last five minutes. */
  readonly isOfLastMinute: boolean;
  /** The usual share of failed attempts, from 0 to 1; `null` with fewer than {@link MIN_USUAL} earlier attempts. */
  readonly usual: number | null;
  /** Whether `share` and `usual` are for a single queue. */
  readonly isOfQueue: boolean;
  /**
   * The failures of the last five minutes that are still stored, in all queues, grouped by error. Most frequent first;
   * not empty.
   */
  readonly errors: readonly ErrorGroup[];
}

/**
 * Finds the job types that fail unusually often or almost always, most failures first. Omits a type if fewer than five of its failures
 * in the last five minutes are still stored.
 *
 * @param queue limits the search to attempts in this queue; by default, covers all queues. The returned errors always
 *   come from all queues
 */
export async function findFailingTypes(
  { timings, statistics }: Pick<ReadingContext['reader'], 'timings' | 'statistics'>,
  queue?: string,
): Promise<FailingType[]> {
  const of = { limit: MAX_NAMES, ...(queue === undefined ? {} : { queue }) };
  const [recent, latest] = await Promise.all([
    timings.listNames({ ...of, sinceMs: RECENT_MS }),
    timings.listNames({ ...of, sinceMs: MINUTE_MS }),
  ]);
  const suspects = recent
    .map((type) => {
      const minute = latest.find(({ name }) => name === type.name)?.timing;
      const inMinute = minute !== undefined && failuresOf(minute) >= MIN_FAILED ? shareOf(minute) : 0;
      const isOfLastMinute = inMinute > shareOf(type.timing);
      return { ...type, isOfLastMinute, share: isOfLastMinute ? inMinute : shareOf(type.timing) };
    })
    .filter(({ timing, share }) => failuresOf(timing) >= MIN_FAILED && share >= MIN_SHARE);
  if (suspects.length === 0) return [];
  const [usual, { groups }] = await Promise.all([
    timings.listNames({ ...of, sinceMs: USUAL_MS }),
    statistics.listErrorGroups({ sinceMs: RECENT_MS }),
  ]);
  return suspects
    .flatMap(({ name, timing, share, isOfLastMinute }) => {
      const before = shareBefore(timing, usual.find((type) => type.name === name)?.timing);
      const errors = groups
        .filter((group) => group.name === name)
        .toSorted((one, other) => other.count - one.count);
      const isUnusual = share >= Math.min(ALWAYS, FACTOR * (before ?? 0));
      const stored = errors.reduce((sum, { count }) => sum + count, 0);
      return isUnusual && stored >= MIN_FAILED
        ? [{ name, share, isOfLastMinute, isOfQueue: queue !== undefined, usual: before, errors }]
        : [];
    })
    .toSorted((one, other) => jobsOf(other) - jobsOf(one));
}

/**
 * Returns a warning for each failing job type. The numbers of jobs in the text include only jobs that failed in the
 * last five minutes and are still stored.
 */
export function failingTypeWarnings(types: readonly FailingType[]): Warning[] {
  return types.flatMap((type) => {
    const { name, share, isOfLastMinute, isOfQueue, usual, errors } = type;
    const [first] = errors;
    if (first === undefined) return [];
    const jobs = jobsOf(type);
    const isExact = errors.every(({ failedExact, waitingExact }) => failedExact && waitingExact);
    const [kind = ''] = first.fingerprint.split(': ', 1);
    const error = errorLine(kind, first.message);
    const most = first.count < jobs ? `${formatNumber(first.count)} of them` : 'all of them';
    return [
      {
        cause: `job type ${name} fails`,
        isMeasured: true,
        text: sentence`Job type “${name}” is failing: ${isExact ? '' : 'at least '}${counted(jobs, 'job')} had failed attempts in the last 5 minutes${isOfQueue ? ' in all queues' : ''}, ${most} with errors like ${error}.`,
        advice: `${percent(share)} of its attempts${isOfQueue ? ' in this queue' : ''} in the last ${isOfLastMinute ? 'minute' : '5 minutes'} failed; ${usual === null ? 'it hardly ran in the 24 hours before' : `in the 24 hours before, ${percent(usual)}`}.`,
        // A list of failed jobs would be empty while all of these jobs wait for a retry.
        link: errors.some(({ retryable }) => retryable > 0)
          ? `jobs?state=failed&name=${encodeURIComponent(name)}`
          : `types/${encodeURIComponent(name)}`,
      },
    ];
  });
}

function jobsOf({ errors }: FailingType): number {
  return errors.reduce((sum, { count }) => sum + count, 0);
}

type Outcomes = Pick<NameTiming['timing'], 'done' | 'failed' | 'retried'>;

function failuresOf({ failed, retried }: Outcomes): number {
  return failed + retried;
}

function shareOf(outcomes: Outcomes): number {
  const failures = failuresOf(outcomes);
  return failures === 0 ? 0 : failures / (failures + outcomes.done);
}

/**
 * Returns the share of failed attempts in the day before the recent span; `null` if there were too few attempts to
 * tell.
 */
function shareBefore(recent: Outcomes, wholeDay: Outcomes | undefined): number | null {
  if (wholeDay === undefined) return null;
  const of = (member: keyof Outcomes): number => Math.max(0, wholeDay[member] - recent[member]);
  const before = { done: of('done'), failed: of('failed'), retried: of('retried') };
  return before.done + failuresOf(before) < MIN_USUAL ? null : shareOf(before);
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
