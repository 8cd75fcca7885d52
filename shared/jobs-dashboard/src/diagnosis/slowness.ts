import { type HistoryBucket, Timing } from '@longshore/jobs/storage';
import type { Point } from '../format/line-chart.js';
import type { Tally } from './change-points.js';
import { courseOf } from './course.js';
import { isHigher, lowestShare } from './share.js';
import { findShift, latestOf, type Period, RECENT_MS, type Shift } from './shift.js';

type Durations = Timing['running'];

const MINUTE_MS = 60_000;
/**
 * An anomaly takes at least this many times as long as usual. A power of two, so that both durations are bounds of
 * buckets, and the numbers of longer durations are exact.
 */
const LONGER = 4;
/** Durations below these, in milliseconds, are not worth a warning. */
const leastMs = { running: 500, waiting: 30_000 } as const;
/** Minimum number of durations to judge by. */
const ENOUGH = 20;

/** A percentile of the durations of a job type that is several times as high as usual. */
export interface Slowness {
  /** Whether attempts run longer, or jobs wait longer until an attempt starts. */
  readonly kind: 'running' | 'waiting';
  /** 0.5 for the median; 0.95 for the 95th percentile if the median is as usual. */
  readonly quantile: 0.5 | 0.95;
  /**
   * The share of attempts that took longer than `thresholdMs`: now, during the anomaly, and before it. The percentile
   * was below the threshold before, and at least four times the threshold during the slowest minutes.
   */
  readonly shift: Shift & { readonly baseline: NonNullable<Shift['baseline']> };
  readonly thresholdMs: number;
  /** The percentile of the latest attempts, in milliseconds; `null` if there are none. */
  readonly nowMs: number | null;
  /** The percentile during the anomaly, without its recovery, in milliseconds. */
  readonly incidentMs: number;
  /** The percentile before the anomaly, in milliseconds. */
  readonly baselineMs: number;
  /** How many times as long as before: `nowMs`, or `incidentMs` unless it still is slow, divided by `baselineMs`. */
  readonly ratio: number;
  /**
   * The share of their waiting time in which jobs were not ready, but mostly blocked by keys, during the anomaly and since;
   * 0 for running times.
   */
  readonly blockedShare: number;
  /** The percentile in each minute of the last hour, in milliseconds. */
  readonly course: readonly Point[];
}

/**
 * Finds out whether attempts run longer, and whether jobs wait longer, than before. Reduces durations to a share: the
 * attempts that take longer than a quarter of what the slowest recent ones certainly take. The share has the same
 * uncertainty and baseline as that of failed attempts.
 *
 * @param buckets the history of a job type, oldest first
 */
export function findSlowness(buckets: readonly HistoryBucket[], nowMs: number): Slowness[] {
  return (['running', 'waiting'] as const).flatMap((kind) => {
    const found = slownessOf(buckets, nowMs, kind, 0.5) ?? slownessOf(buckets, nowMs, kind, 0.95);
    return found === null ? [] : [found];
  });
}

function slownessOf(
  buckets: readonly HistoryBucket[],
  nowMs: number,
  kind: Slowness['kind'],
  quantile: Slowness['quantile'],
): Slowness | null {
  const within = (from: number, until: number): Durations =>
    mergedOf(
      buckets.filter(({ at }) => at.getTime() >= from && at.getTime() < until),
      kind,
    );
  const slowestMs = slowestIn(buckets, nowMs, kind, quantile);
  if (slowestMs < leastMs[kind]) return null;
  const thresholdMs = slowestMs / LONGER;
  const rule = { minShare: 1 - quantile, factor: 2, baselineBelow: 1 - quantile, always: null };
  const tallies = buckets.map((bucket) => longerIn(bucket, kind, thresholdMs));
  const shift = findShift(tallies, nowMs, rule);
  if (shift === null || shift.baseline === null) return null;
  const { baseline, incident, now } = shift;
  const state = stateOf(shift, quantile);
  const usual = mergedOf(
    buckets.filter(({ at }) =>
      baseline.levels.some((level) => at.getTime() >= level.at && at.getTime() < level.until),
    ),
    kind,
  );
  const incidentMs = within(incident.from, incident.until).percentile(quantile) ?? 0;
  const nowPercentile = within(now.from, now.until).percentile(quantile);
  const baselineMs = usual.percentile(quantile) ?? 0;
  const shownMs = state === 'above' ? (nowPercentile ?? incidentMs) : incidentMs;
  return {
    kind,
    quantile,
    shift: { ...shift, state, baseline },
    thresholdMs,
    nowMs: nowPercentile,
    incidentMs,
    baselineMs,
    ratio: shownMs / Math.max(1, baselineMs),
    blockedShare:
      kind === 'waiting' ? blockedShareOf(buckets.filter(({ at }) => at.getTime() >= incident.from)) : 0,
    course: courseOf(buckets, nowMs, ({ timing }) => timing[kind].percentile(quantile)),
  };
}

/** Returns in which share of their waiting time jobs were not ready; 0 if they did not wait. */
export function blockedShareOf(buckets: readonly { readonly timing: Timing }[]): number {
  const sumOf = (kind: 'waiting' | 'ready'): number =>
    buckets.reduce((sum, { timing }) => sum + timing[kind].sumMs, 0);
  const waitedMs = sumOf('waiting');
  return waitedMs === 0 ? 0 : 1 - sumOf('ready') / waitedMs;
}

/** Attempts still take longer only if the percentile, and not just some of them, is certainly above the threshold. */
function stateOf({ state, now, incident }: Shift, quantile: number): Shift['state'] {
  if (state !== 'above' || lowestShare(now) > 1 - quantile) return state;
  return isHigher(incident, now) ? 'recovering' : 'unclear';
}

/**
 * Returns what the percentile of the slowest minutes among the last ten is at least, in milliseconds; 0 if there are
 * too few attempts to tell.
 */
function slowestIn(
  buckets: readonly HistoryBucket[],
  nowMs: number,
  kind: Slowness['kind'],
  quantile: number,
): number {
  const recent = buckets.filter(({ at }) => at.getTime() > nowMs - RECENT_MS && at.getTime() <= nowMs);
  const tallies = recent.map((bucket) => longerIn(bucket, kind, 0)).filter(({ of }) => of > 0);
  let slowest = 0;
  for (let endMs = nowMs; endMs > nowMs - RECENT_MS; endMs -= MINUTE_MS) {
    const { from, until, of }: Period = latestOf(
      tallies.filter(({ at }) => at <= endMs),
      endMs,
    );
    if (of < ENOUGH) continue;
    const durations = mergedOf(
      recent.filter(({ at }) => at.getTime() >= from && at.getTime() < until),
      kind,
    );
    slowest = Math.max(slowest, leastPercentile(durations, quantile));
  }
  return slowest;
}

/** Returns the largest bound of a bucket that the true percentile certainly exceeds. */
function leastPercentile(durations: Durations, quantile: number): number {
  const { first, counts } = durations.counts();
  let longer = 0;
  for (let bucket = first + counts.length - 1; bucket >= Math.max(1, first); bucket--) {
    longer += counts[bucket - first] ?? 0;
    // Bucket n starts at 2^((n - 1) / 4) ms.
    if (lowestShare({ hits: longer, of: durations.total }) > 1 - quantile) return 2 ** ((bucket - 1) / 4);
  }
  return 0;
}

function longerIn(
  { at, bucketMs, timing }: HistoryBucket,
  kind: Slowness['kind'],
  thresholdMs: number,
): Tally {
  const { total } = timing[kind];
  const hits = total - timing[kind].atMost(thresholdMs);
  return { at: at.getTime(), until: at.getTime() + bucketMs, hits, of: total };
}

function mergedOf(buckets: readonly HistoryBucket[], kind: Slowness['kind']): Durations {
  const merged = new Timing()[kind];
  for (const { timing } of buckets) merged.merge(timing[kind]);
  return merged;
}
