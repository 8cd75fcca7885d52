import { shorten } from '@longshore/edge';
import type { ErrorGroup, NameTiming } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import type { Warning } from './warning.js';

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
const MAX_MESSAGE = 120;

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
      const before = shareBefore(timing, usual.find((each) => each.name === name)?.timing);
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
    const [line = ''] = first.message.split('\n', 1);
    const error = line === '' ? kind : `${kind}: ${shorten(line, MAX_MESSAGE, '…')}`;
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
function shareBefore(recent: Outcomes, all: Outcomes | undefined): number | null {
  if (all === undefined) return null;
  const of = (member: keyof Outcomes): number => Math.max(0, all[member] - recent[member]);
  const before = { done: of('done'), failed: of('failed'), retried: of('retried') };
  return before.done + failuresOf(before) < MIN_USUAL ? null : shareOf(before);
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
