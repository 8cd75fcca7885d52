import type { ErrorGroup, NameTiming } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import { excerpt } from '../format/excerpt.js';
import { sentence } from '../format/sentence.js';
import type { PageContext } from '../pages/page.js';
import type { Warning } from './warning.js';

/** The short span in which a job type is judged, and the longer one that shows what is usual for it, in milliseconds. */
const RECENT_MS = 5 * 60_000;
const USUAL_MS = 180 * 60_000;

/** Fewer failed attempts may be chance. */
const LEAST_FAILED = 5;
/** The least share of failed attempts that is worth a warning. */
const LEAST_SHARE = 0.2;
/** How much more often than usual a job type must fail. */
const FACTOR = 3;
/** A job type that nearly always fails is reported even if that is usual. */
const ALWAYS = 0.9;
const MOST_NAMES = 200;
const MAX_MESSAGE = 120;

/** A job type that fails unusually often. */
export interface FailingType {
  readonly name: string;
  /** Shares of the attempts that failed, from 0 to 1. */
  readonly share: number;
  readonly usual: number;
  /** The stored failures of the last minutes, the most frequent error first; not empty. */
  readonly errors: readonly ErrorGroup[];
}

/**
 * Finds the job types that fail unusually often, those with the most failures first. Types whose failed jobs have all been
 * retried or deleted are left out.
 *
 * @param queue only attempts in this queue; all queues by default
 */
export async function findFailingTypes(
  { timings, statistics }: Pick<PageContext['reader'], 'timings' | 'statistics'>,
  queue?: string,
): Promise<FailingType[]> {
  const of = { limit: MOST_NAMES, ...(queue === undefined ? {} : { queue }) };
  const recent = await timings.listNames({ ...of, sinceMs: RECENT_MS });
  const suspects = recent.filter(
    ({ timing }) => failuresOf(timing) >= LEAST_FAILED && shareOf(timing) >= LEAST_SHARE,
  );
  if (suspects.length === 0) return [];
  const [usual, { groups }] = await Promise.all([
    timings.listNames({ ...of, sinceMs: USUAL_MS }),
    statistics.listErrorGroups({ sinceMs: RECENT_MS }),
  ]);
  return suspects
    .flatMap(({ name, timing }) => {
      const share = shareOf(timing);
      const before = shareBefore(timing, usual.find((each) => each.name === name)?.timing);
      const errors = groups
        .filter((group) => group.name === name)
        .toSorted((one, other) => other.count - one.count);
      const isUnusual = share >= Math.min(ALWAYS, FACTOR * before);
      return isUnusual && errors.length > 0 ? [{ name, share, usual: before, errors }] : [];
    })
    .toSorted((one, other) => jobsOf(other) - jobsOf(one));
}

/** Both numbers of the text count the same jobs: those that failed in the last minutes and are still stored. */
export function failingTypeWarnings(types: readonly FailingType[]): Warning[] {
  return types.flatMap((type) => {
    const { name, share, usual, errors } = type;
    const [first] = errors;
    if (first === undefined) return [];
    const jobs = jobsOf(type);
    const isExact = errors.every(({ failedExact, waitingExact }) => failedExact && waitingExact);
    const [kind = ''] = first.fingerprint.split(': ', 1);
    const [line = ''] = first.message.split('\n', 1);
    const error = line === '' ? kind : `${kind}: ${excerpt(line, MAX_MESSAGE)}`;
    const most =
      first.count < jobs ? `${formatNumber(first.count)} of them` : jobs === 1 ? '' : 'all of them';
    return [
      {
        text: sentence`Job type “${name}” is failing: ${isExact ? '' : 'at least '}${counted(jobs, 'job')} failed in the last 5 minutes, ${most} with ${error}.`,
        advice: `${percent(share)} of its attempts failed; before that, ${percent(usual)}.`,
        link: `jobs?state=failed&name=${encodeURIComponent(name)}`,
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

/** Returns the share of failures before the last minutes; 0 if there were no attempts. */
function shareBefore(recent: Outcomes, all: Outcomes | undefined): number {
  if (all === undefined) return 0;
  const before = (member: keyof Outcomes): number => Math.max(0, all[member] - recent[member]);
  return shareOf({ done: before('done'), failed: before('failed'), retried: before('retried') });
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
