import type { BlockingKeys, Queue, Server } from '@longshore/jobs/storage';
import { countedJobs, formatNumber } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import { formatDuration } from '../format/time.js';
import type { BacklogSamples } from '../reading/backlog-samples.js';
import { type BacklogTrend, trendOf } from './backlog-trend.js';
import { type Blocker, blockerOfQueue } from './blocker.js';
import { blockedBy, readyJobs } from './blocking-keys.js';
import type { PausedJobs } from './pause.js';

/** What is certain about the backlog of a queue: how it changes, and which of its jobs no server takes. */
export interface BacklogOutlook {
  /**
   * What was seen and what follows from it: “Fell from 2,302 at 05:43 to 1,240: drains in about 3 min at 6.2 ± 0.9/s”.
   * `null` if no trend is certain, or if servers do not take all of the queue's ready jobs.
   */
  readonly text: Sentence | null;
  /** The conclusion alone, for lists: “drains in about 3 min at 6.2 ± 0.9/s”. `null` where `text` is. */
  readonly brief: Sentence | null;
  /** The trend that `text` states; `null` where `text` is. */
  readonly trend: BacklogTrend | null;
  /** How many jobs are ready, if no server takes any, and why: “4,170 paused until 06:37”. `null` if servers do. */
  readonly stopped: Sentence | null;
  /** The other jobs that no server takes, and why: “212 jobs of paused type “send-mail””, “2,883 blocked by keys”. */
  readonly held: readonly Sentence[];
}

interface OutlookContext {
  /** The running servers that consume the queue. */
  readonly consumers: readonly Server[];
  /** The keys that block jobs of the queue. */
  readonly blocking: BlockingKeys;
  /** The paused job types that have waiting jobs in any queue, or might have some. */
  readonly pausedJobs: readonly PausedJobs[];
}

/** The time until a queue is empty is given as a single figure if the uncertainty is at most this share of the rate. */
const MAX_DOUBT = 0.25;
/** With more doubt, it is given as a range, up to this share. */
const MAX_DOUBT_OF_RANGE = 0.6;

/** A shorter time until a queue is empty is not shown, in milliseconds. */
const MIN_LEFT_MS = 10_000;

/**
 * Judges how the backlogs of queues change, from the samples of this process. Remembers when each queue will be empty,
 * so that the time left falls as time passes.
 */
export class BacklogOutlooks {
  readonly #samples: Pick<BacklogSamples, 'of'>;
  readonly #now: () => number;
  /** When each queue is expected to be empty, in milliseconds since 1970. */
  readonly #ends = new Map<string, number>();

  constructor(samples: Pick<BacklogSamples, 'of'>, now: () => number) {
    this.#samples = samples;
    this.#now = now;
  }

  of(queue: Queue, { consumers, blocking, pausedJobs }: OutlookContext): BacklogOutlook {
    const nowMs = this.#now();
    const blocker = blockerOfQueue(queue, consumers, nowMs);
    const paused = pausedJobs.filter(({ queues, jobs }) => queues.includes(queue.name) || !jobs.exact);
    const stopped = blocker === null ? null : stoppedText(queue, blocker, blocking);
    const held = [
      ...(blocker === null ? paused.flatMap((type) => ofPausedType(type, queue.name)) : []),
      ...blockedText(blocking),
    ];
    const trend =
      blocker === null && paused.length === 0 ? trendOf(this.#samples.of(queue.name), nowMs) : null;
    if (trend === null) return { text: null, brief: null, trend, stopped, held };
    const brief = this.#conclusion(queue.name, trend, nowMs);
    const { from, to } = trend;
    const [start, end] = [formatNumber(from.ready), formatNumber(to.ready)];
    const clock = { clock: new Date(from.atMs) };
    const text = {
      growing: sentence`Rose from ${start} at ${clock} to ${end}: ${brief}`,
      shrinking: sentence`Fell from ${start} at ${clock} to ${end}: ${brief}`,
      steady: sentence`Went from ${start} at ${clock} to ${end}: ${brief}`,
    };
    return { text: text[trend.direction], brief, trend, stopped, held };
  }

  #conclusion(queue: string, trend: BacklogTrend, nowMs: number): Sentence {
    if (trend.direction !== 'shrinking') this.#ends.delete(queue);
    if (trend.direction === 'steady') return ['steady'];
    const rate = rateText(trend);
    if (trend.direction === 'growing') return [`growing by ${rate}`];
    const range = emptyBetween(trend);
    if (range === null) return [`shrinking by ${rate}`];
    if (range.isRough) return [rangeText(trend, range, nowMs)];
    const endMs = this.#endOf(queue, range);
    return endMs - nowMs < MIN_LEFT_MS
      ? [`shrinking by ${rate}`]
      : [drainText('drains', trend, endMs - nowMs)];
  }

  /**
   * Returns when the queue will be empty at this rate, in milliseconds since 1970. Stays the same as long as the
   * uncertainty of the rate covers it.
   */
  #endOf(queue: string, range: EmptyBetween): number {
    const known = this.#ends.get(queue);
    if (known !== undefined && known >= range.earliestMs && known <= range.latestMs) return known;
    this.#ends.set(queue, range.likelyMs);
    return range.likelyMs;
  }
}

/** When a queue will be empty, in milliseconds since 1970. */
interface EmptyBetween {
  readonly earliestMs: number;
  readonly likelyMs: number;
  readonly latestMs: number;
  /** Whether the range is too wide for a single figure. */
  readonly isRough: boolean;
}

/** Returns when the ready jobs will all have been taken at the rate of the trend; `null` if that is too uncertain. */
export function emptyBetween({ direction, perSecond, uncertainty, to }: BacklogTrend): EmptyBetween | null {
  const rate = -perSecond;
  if (direction !== 'shrinking' || uncertainty > MAX_DOUBT_OF_RANGE * rate) return null;
  const at = (jobsPerSecond: number): number => to.atMs + (1_000 * to.ready) / jobsPerSecond;
  return {
    earliestMs: at(rate + uncertainty),
    likelyMs: at(rate),
    latestMs: at(rate - uncertainty),
    isRough: uncertainty > MAX_DOUBT * rate,
  };
}

/** Returns between which times a queue is empty and at which rate: “drains in 3 min to 8 min at 2.1 ± 0.9/s”. */
function rangeText(trend: BacklogTrend, { earliestMs, latestMs }: EmptyBetween, nowMs: number): string {
  const least = aboutText(Math.max(0, earliestMs - nowMs), Math.floor);
  return `drains in ${least} to ${aboutText(latestMs - nowMs, Math.ceil)} at ${rateText(trend)}`;
}

/** Returns when a queue is empty and at which rate: “drains in about 3 min at 6.2 ± 0.9/s”. */
export function drainText(verb: string, trend: BacklogTrend, leftMs: number): string {
  return `${verb} in about ${aboutText(leftMs)} at ${rateText(trend)}`;
}

/** Below this rate per second, rates are given per minute. */
const MIN_PER_SECOND = 0.5;

/** Returns a rate such as `6.2 ± 0.9/s`. The uncertainty is rounded up, and includes the rounding of the rate. */
function rateText({ perSecond, uncertainty }: BacklogTrend): string {
  const isSlow = Math.abs(perSecond) < MIN_PER_SECOND;
  const rate = Math.abs(perSecond) * (isSlow ? 60 : 1);
  const precision = rate >= 10 ? 1 : 10;
  const shown = Math.round(rate * precision) / precision;
  const off = uncertainty * (isSlow ? 60 : 1) + Math.abs(shown - rate);
  const most = Math.ceil(off * precision - 1e-9) / precision;
  return `${formatNumber(shown)} ± ${formatNumber(most)}${isSlow ? ' per min' : '/s'}`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Durations below the first number are rounded to the second, in milliseconds. */
const steps = [
  [MINUTE, 5 * SECOND],
  [3 * MINUTE, 10 * SECOND],
  [10 * MINUTE, 30 * SECOND],
  [HOUR, MINUTE],
  [24 * HOUR, 10 * MINUTE],
] as const;

/** Formats a duration that is only roughly known. */
function aboutText(ms: number, round: (steps: number) => number = Math.round): string {
  const stepMs = steps.find(([belowMs]) => ms < belowMs)?.[1] ?? HOUR;
  return formatDuration(round(ms / stepMs) * stepMs).replace('.0 s', ' s');
}

const reasons: Readonly<Partial<Record<Blocker['kind'], string>>> = {
  unserved: 'without a server',
  quiet: 'without a server that takes jobs',
  silent: 'whose servers are silent',
};

/** Returns how many jobs of a queue that is stopped as a whole are ready; `null` if none is. */
function stoppedText(queue: Queue, { kind }: Blocker, blocking: BlockingKeys): Sentence | null {
  const { count, isExact } = readyJobs(queue, blocking);
  if (count === 0) return null;
  const jobs = `${isExact ? '' : 'at most '}${formatNumber(count)}`;
  return kind === 'paused' ? sentence`${jobs} paused${untilText(queue)}` : [`${jobs} ${reasons[kind] ?? ''}`];
}

/** Returns the jobs of a paused type in a queue. Their number is known only if no other queue has some. */
function ofPausedType({ name, jobs, queues, pausedUntil }: PausedJobs, queue: string): Sentence[] {
  if (!queues.includes(queue)) return [];
  const counted = queues.length === 1 ? countedJobs(jobs) : 'jobs';
  return [sentence`${counted} of paused type “${name}”${untilText({ pausedUntil })}`];
}

function untilText({ pausedUntil }: Pick<Queue, 'pausedUntil'>): Sentence {
  return pausedUntil === null ? [] : sentence` until ${{ until: pausedUntil }}`;
}

function blockedText(blocking: BlockingKeys): Sentence[] {
  const { count, exact } = blockedBy(blocking);
  return count === 0 ? [] : [[`${exact ? '' : 'at least '}${formatNumber(count)} blocked by keys`]];
}
