import { DurationHistogram, type Server, type TimingBucket } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../format/count.js';
import type { Sentence } from '../format/sentence.js';
import { drainText, emptyBetween } from './backlog-outlook.js';
import type { BacklogTrend } from './backlog-trend.js';
import { slotsOf } from './blocker.js';

/** How many jobs per second one more slot starts. */
interface SlotRate {
  readonly perSecond: number;
  /** The true rate is within plus or minus this. */
  readonly uncertainty: number;
}

/** What is known about the slots that take jobs from a queue. */
export interface Taking {
  /** The running servers that consume the queue. */
  readonly consumers: readonly Server[];
  /** The queue’s timings by the minute, oldest first, until now. */
  readonly minutes: readonly TimingBucket[];
  readonly nowMs: number;
}

const MINUTE_MS = 60_000;
/** A queue that drains within this time needs no more slots, and further slots are to achieve this, in milliseconds. */
const SOON_MS = 10 * MINUTE_MS;
/** At most this many times as many further slots as there are. What so many more would do is guesswork. */
const MAX_FACTOR = 2;
/** Fewer attempts do not show how long they usually run. */
const MIN_ATTEMPTS = 50;
/** Jobs that run longer on average have not all ended within two minutes, which distorts the average, in milliseconds. */
const MAX_RUN_MS = 10_000;
/** How many standard errors the uncertainty is. */
const ERRORS = 4;
/** The same for the comparison of two minutes. Lower, because a false alarm only leads to silence. */
const ERRORS_OF_PARTS = 2;
/**
 * Says how many more slots would drain a queue soon: “2 more slots (now 8) would drain it in about 9 min at 6.2 ± 0.9/s”.
 * Returns `null` if the queue drains soon anyway, or if it is not certain what a slot would add. The rate of the backlog
 * is that of the trend; each further slot adds what the present ones take.
 *
 * @param trend how the number of ready jobs changes at present
 */
export function slotsNeeded(trend: BacklogTrend, taking: Taking): Sentence | null {
  const { perSecond, uncertainty, to } = trend;
  const { nowMs } = taking;
  const fastest = uncertainty - perSecond;
  if (fastest > 0 && to.atMs + (1_000 * to.ready) / fastest <= nowMs + SOON_MS) return null;
  const { slots } = slotsOf(taking.consumers);
  const rate = slotRate(slots, taking);
  if (rate === null) return null;
  for (let more = 1; more <= MAX_FACTOR * slots; more++) {
    const faster: BacklogTrend = {
      ...trend,
      direction: 'shrinking',
      perSecond: perSecond - more * rate.perSecond,
      uncertainty: uncertainty + more * rate.uncertainty,
    };
    const range = emptyBetween(faster);
    if (range === null || range.isRough || range.likelyMs > nowMs + SOON_MS) continue;
    const given = `${counted(more, 'more slot')} (now ${formatNumber(slots)})`;
    return [`${given} would ${drainText('drain it', faster, range.likelyMs - nowMs)}`];
  }
  return null;
}

/**
 * Returns how many jobs per second one more slot starts; `null` if that is not known. At most, it is one per running
 * time, as if there were no time between jobs. At least, it is what the slots took on average, as if all of them were
 * there for this queue alone. The two agree if the slots are busy with this queue.
 */
export function slotRate(
  slots: number,
  { minutes, nowMs }: Pick<Taking, 'minutes' | 'nowMs'>,
): SlotRate | null {
  const [before, current] = minutes.slice(-2).map(({ timing }) => timing.running);
  const begin = minutes.at(-2)?.at.getTime();
  if (before === undefined || current === undefined || begin === undefined) return null;
  const [first, second] = [meanOf(before), meanOf(current)];
  if (first === null || nowMs - begin < MINUTE_MS || nowMs - begin > 2 * MINUTE_MS) return null;
  if (second !== null && areDifferent(first, second)) return null;
  const whole = before.total + current.total;
  const mean = meanOf(merged(before, current));
  if (mean === null || whole < MIN_ATTEMPTS || mean.ms > MAX_RUN_MS || mean.ms <= mean.error) return null;
  const most = 1_000 / (mean.ms - mean.error);
  const seconds = (nowMs - begin) / 1_000;
  // Reports of the last seconds that are still missing make this lower.
  const least = (whole / (slots * seconds)) * (1 - mean.error / mean.ms);
  if (least > most) return null; // more than these slots can take: there were others
  return { perSecond: (most + least) / 2, uncertainty: (most - least) / 2 };
}

/** Returns whether jobs have begun to run longer or shorter. */
function areDifferent(one: Mean, other: Mean): boolean {
  const error = (ERRORS_OF_PARTS / ERRORS) * Math.hypot(one.error, other.error);
  return Math.abs(one.ms - other.ms) > error;
}

interface Mean {
  readonly ms: number;
  readonly error: number;
}

/** Returns the mean duration and its error, by the spread of the durations; `null` if there are too few. */
function meanOf(durations: DurationHistogram): Mean | null {
  const { total, sumMs } = durations;
  if (total < MIN_ATTEMPTS / 2) return null;
  return { ms: sumMs / total, error: (ERRORS * durations.deviationMs()) / Math.sqrt(total) };
}

function merged(...parts: readonly DurationHistogram[]): DurationHistogram {
  const whole = new DurationHistogram();
  for (const part of parts) whole.merge(part);
  return whole;
}
