import type { BacklogSample } from '../reading/backlog-samples.js';

/** How the number of a queue's ready jobs has changed during about the last minute. */
export interface BacklogTrend {
  readonly direction: 'growing' | 'shrinking' | 'steady';
  /** The change per second; negative if the backlog shrinks. */
  readonly perSecond: number;
  /** The true change per second is within plus or minus this. */
  readonly uncertainty: number;
  /** The oldest and the newest sample that the trend is computed from. */
  readonly from: BacklogSample;
  readonly to: BacklogSample;
}

/** The longest period over which a trend is fitted, in milliseconds. */
const MAX_SPAN_MS = 90_000;
/** A shorter period says nothing about a trend. */
const MIN_SPAN_MS = 30_000;
/** Fewer samples do not show their own spread. */
const MIN_SAMPLES = 7;
/** Nothing is known about a longer time without a sample, nor if the newest sample is older. */
const MAX_GAP_MS = 15_000;
/** The end of the period, in which a change of direction must show. */
const END_MS = 15_000;
/** A backlog that changes by at most this share within the period is steady. */
const STEADY_SHARE = 0.03;
/** How many standard errors the uncertainty is, given many samples. */
const ERRORS = 4;
/** How much larger the uncertainty gets if there are only this many samples, as their spread is less certain, too. */
const FEW = 12;
/** The same for the comparison of parts of the period. Lower, because a false alarm only leads to silence. */
const ERRORS_OF_PARTS = 2;
/** Changes that add up to fewer jobs than the root of this are never certain. */
const MIN_VARIANCE = 7;
/**
 * The least variance of a change, as a share of what it is if jobs come and go one by one at random. A smaller spread can
 * be chance.
 */
const REGULAR = 0.3;
/** How many more changes as large as the largest one the uncertainty allows for. */
const UNSEEN = 2;

/**
 * Returns the trend of a queue's ready jobs; `null` if it is not certain: too few samples, too much spread, a change of
 * rate within the period, or so few jobs that the queue may have been empty between two samples.
 *
 * The number of ready jobs is the sum of what arrived minus what was started, so that the mean of its changes is the
 * best estimate of its rate, and their spread shows the uncertainty, also if jobs come and go in batches.
 *
 * @param samples oldest first
 */
export function trendOf(samples: readonly BacklogSample[], nowMs: number): BacklogTrend | null {
  const recent = lastUnbroken(samples, nowMs);
  const [from, to] = [recent[0], recent.at(-1)];
  if (from === undefined || to === undefined || recent.length < MIN_SAMPLES) return null;
  const spanMs = to.atMs - from.atMs;
  if (spanMs < MIN_SPAN_MS || nowMs - to.atMs > MAX_GAP_MS || mayHaveBeenEmpty(recent)) return null;
  const { perSecond, uncertainty } = driftOf(recent, ERRORS);
  const direction = directionOf(perSecond, uncertainty, recent);
  return direction === null || hasChanged(recent, perSecond, direction)
    ? null
    : { direction, perSecond, uncertainty, from, to };
}

/** Returns the samples of the period that follow each other without a gap, a step of the clock or a change of regime. */
function lastUnbroken(samples: readonly BacklogSample[], nowMs: number): readonly BacklogSample[] {
  let first = samples.length - 1;
  while (first > 0) {
    const [before, after] = [samples[first - 1], samples[first]];
    if (before === undefined || after === undefined) break;
    const gapMs = after.atMs - before.atMs;
    const isBroken = gapMs <= 0 || gapMs > MAX_GAP_MS || before.regime !== after.regime;
    if (isBroken || before.atMs < nowMs - MAX_SPAN_MS) break;
    first--;
  }
  return samples.slice(Math.max(0, first));
}

/** An empty queue hides how fast servers are, and it can have been empty between two samples. */
function mayHaveBeenEmpty(samples: readonly BacklogSample[]): boolean {
  const least = Math.min(...samples.map(({ ready }) => ready));
  const [first] = samples;
  let largest = 1;
  let before = first?.ready ?? 0;
  for (const { ready } of samples) {
    largest = Math.max(largest, Math.abs(ready - before));
    before = ready;
  }
  return least < 3 * largest;
}

function directionOf(
  perSecond: number,
  uncertainty: number,
  samples: readonly BacklogSample[],
): BacklogTrend['direction'] | null {
  const mean = samples.reduce((sum, { ready }) => sum + ready, 0) / samples.length;
  if (Math.abs(perSecond) + uncertainty <= (STEADY_SHARE * mean) / secondsOf(samples)) return 'steady';
  if (Math.abs(perSecond) <= uncertainty) return null;
  return perSecond > 0 ? 'growing' : 'shrinking';
}

/** Returns whether parts of the period differ from each other, or do not go in the direction of the whole. */
function hasChanged(
  samples: readonly BacklogSample[],
  perSecond: number,
  direction: BacklogTrend['direction'],
): boolean {
  const [from, to] = [samples[0]?.atMs ?? 0, samples.at(-1)?.atMs ?? 0];
  const part = (sinceMs: number, untilMs: number): Drift =>
    driftOf(
      samples.filter(({ atMs }) => atMs >= sinceMs && atMs <= untilMs),
      ERRORS_OF_PARTS,
    );
  const middle = (from + to) / 2;
  const [first, second, end] = [part(from, middle), part(middle, to), part(to - END_MS, to)];
  if (areDifferent(first, second)) return true;
  if (Math.abs(end.perSecond - perSecond) > end.uncertainty) return true;
  return direction !== 'steady' && [first, second, end].some((each) => each.perSecond * perSecond <= 0);
}

function areDifferent(one: Drift, other: Drift): boolean {
  return Math.abs(one.perSecond - other.perSecond) > Math.hypot(one.uncertainty, other.uncertainty);
}

interface Drift {
  readonly perSecond: number;
  readonly uncertainty: number;
}

/**
 * Returns the mean change per second, and its uncertainty from the spread of the changes. The spread is measured for
 * single changes and for the sums of 2, 4 and 8 successive ones, and the largest counts, because successive changes can
 * depend on each other.
 */
function driftOf(samples: readonly BacklogSample[], errors: number): Drift {
  const seconds = secondsOf(samples);
  const [from, to] = [samples[0], samples.at(-1)];
  if (from === undefined || to === undefined || seconds <= 0)
    return { perSecond: 0, uncertainty: Number.POSITIVE_INFINITY };
  const perSecond = (to.ready - from.ready) / seconds;
  const off = (index: number): number => {
    const { atMs, ready } = samples[index] ?? from;
    return ready - from.ready - (perSecond * (atMs - from.atMs)) / 1_000;
  };
  const count = samples.length - 1;
  let variance = Math.max(MIN_VARIANCE, REGULAR * Math.abs(to.ready - from.ready));
  let largest = 0;
  let most = 0;
  for (let size = 1; size === 1 || count / size >= 5; size *= 2) {
    let sum = 0;
    let blocks = 0;
    for (let index = count; index - size >= 0; index -= size, blocks++) {
      const change = off(index) - off(index - size);
      sum += change * change;
      if (size > 1) continue;
      largest = Math.max(largest, Math.abs(change));
      most = Math.max(most, Math.abs((samples[index]?.ready ?? 0) - (samples[index - 1]?.ready ?? 0)));
    }
    if (blocks >= 2) variance = Math.max(variance, (sum * count) / (size * (blocks - 1)));
  }
  const few = 1 + FEW / count;
  const spread = errors * few * Math.sqrt(variance + UNSEEN * largest ** 2);
  // One change more or less, because the period can begin or end just before one.
  return { perSecond, uncertainty: (spread + most) / seconds };
}

function secondsOf(samples: readonly BacklogSample[]): number {
  return ((samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)) / 1_000;
}
