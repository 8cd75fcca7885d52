import {
  type ErrorGroup,
  type HistoryBucket,
  historySpan,
  type NameTiming,
  otherNames,
  type TimingHistories,
} from '@longshore/jobs/storage';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import type { Point } from '../format/line-chart.js';
import type { Tally } from './change-points.js';
import { courseOf } from './course.js';
import { findShift, RECENT_MS, type Shift, type ShiftRule } from './shift.js';
import { findSlowness, type Slowness } from './slowness.js';

/** Failed attempts are an anomaly if they are at least a fifth of all, and at least three times the usual share. */
export const failureRule: ShiftRule = { minShare: 0.2, factor: 3, baselineBelow: 1, always: 0.9 };

/** A job type of which unusually many attempts fail, or almost all. */
export interface FailingType {
  /** `null` for all types together, if no type stands out. */
  readonly name: string | null;
  /** The share of failed attempts over time: now, during the anomaly, and before it. */
  readonly shift: Shift;
  /** The share in each minute of the last hour, from 0 to 1. */
  readonly course: readonly Point[];
  /** Whether `shift` is about the attempts in a single queue. */
  readonly isOfQueue: boolean;
  /**
   * The jobs, in all queues, that failed in the last ten minutes and have not succeeded since, grouped by error. Most
   * frequent error first. Jobs that succeeded when they were retried, or were deleted, are not among them.
   */
  readonly errors: readonly ErrorGroup[];
}

/** A job type whose attempts run, or whose jobs wait, several times longer than usual. */
export interface SlowType {
  readonly name: string;
  readonly slowness: Slowness;
}

export interface TypeHealth {
  /** Most failed attempts first. */
  readonly failing: readonly FailingType[];
  /** Largest ratio first. */
  readonly slow: readonly SlowType[];
}

type Reader = Pick<ReadingContext['reader'], 'timings' | 'statistics'>;

const DAY_MS = 24 * 3_600_000;
const MAX_NAMES = 200;
/** Maximum number of job types whose histories are read. */
const MAX_SUSPECTS = 20;
const MIN_FAILED = 5;

/**
 * Finds the job types that fail or are slow, compared with their own last 24 hours. Each finding is computed from a
 * single read of the histories.
 *
 * @param queue limits the search to attempts in this queue; by default, covers all queues
 */
export async function findTypeHealth(reader: Reader, queue?: string): Promise<TypeHealth> {
  const of = { limit: MAX_NAMES, ...(queue === undefined ? {} : { queue }) };
  const [recent, day] = await Promise.all([
    reader.timings.listNames({ ...of, sinceMs: RECENT_MS }),
    reader.timings.listNames({ ...of, sinceMs: DAY_MS }),
  ]);
  const byDay = new Map(day.map(({ name, timing }) => [name, timing]));
  const names = suspectsAmong(recent, byDay);
  const isQuiet = names.length === 0 && unusualFailures(totalOf(recent), totalOf(day)) <= 0;
  return isQuiet ? { failing: [], slow: [] } : judge(reader, names, queue);
}

/** Judges a single job type, in all queues. */
export async function readHealthOfType(reader: Reader, name: string): Promise<TypeHealth> {
  const { failing, slow } = await judge(reader, [name]);
  return { failing: failing.filter((type) => type.name === name), slow };
}

async function judge(
  { timings, statistics }: Reader,
  names: readonly string[],
  queue?: string,
): Promise<TypeHealth> {
  const [histories, { groups }] = await Promise.all([
    timings.readHistories({ names, ...(queue === undefined ? {} : { queue }) }),
    statistics.listErrorGroups({ sinceMs: RECENT_MS }),
  ]);
  return healthOf(histories, groups, queue !== undefined);
}

/** Judges job types by their histories and, if none of them fails, all types together. */
function healthOf(histories: TimingHistories, groups: readonly ErrorGroup[], isOfQueue: boolean): TypeHealth {
  const { shifts, slow } = judgementOf(histories);
  const failing = shifts.map((found) => ({
    ...found,
    isOfQueue,
    errors: groups.filter((group) => found.name === null || group.name === found.name).toSorted(byCount),
  }));
  return { failing, slow };
}

interface Judgement {
  readonly shifts: readonly Pick<FailingType, 'name' | 'shift' | 'course'>[];
  readonly slow: readonly SlowType[];
}

/** Judging a type takes several milliseconds, and all viewers share the same read, so it is judged once. */
const judgements = new WeakMap<TimingHistories, Judgement>();

function judgementOf(histories: TimingHistories): Judgement {
  const known = judgements.get(histories);
  if (known !== undefined) return known;
  const judged = judgeHistories(histories);
  judgements.set(histories, judged);
  return judged;
}

function judgeHistories({ readAt, byName, total }: TimingHistories): Judgement {
  const nowMs = readAt.getTime();
  const shiftIn = (name: string | null, buckets: readonly HistoryBucket[]): Judgement['shifts'] => {
    const shift = findShift(buckets.map(failedIn), nowMs, failureRule);
    if (shift === null) return [];
    const shareIn = (bucket: HistoryBucket): number | null => {
      const { hits, of } = failedIn(bucket);
      return of === 0 ? null : hits / of;
    };
    return [{ name, shift, course: courseOf(buckets, nowMs, shareIn) }];
  };
  const ofTypes = [...byName].flatMap(([name, buckets]) => shiftIn(name, buckets));
  const shifts = ofTypes.length === 0 ? shiftIn(null, total) : ofTypes;
  const slow = [...byName].flatMap(([name, buckets]) =>
    findSlowness(buckets, nowMs).map((slowness) => ({ name, slowness })),
  );
  return {
    shifts: shifts.toSorted((one, other) => other.shift.incident.hits - one.shift.incident.hits),
    slow: slow.toSorted((one, other) => other.slowness.ratio - one.slowness.ratio),
  };
}

function byCount(one: ErrorGroup, other: ErrorGroup): number {
  return other.count - one.count;
}

function failedIn({ at, bucketMs, timing }: HistoryBucket): Tally {
  const [from, hits] = [at.getTime(), failuresOf(timing)];
  return { at: from, until: from + bucketMs, hits, of: timing.done + hits };
}

type Timing = NameTiming['timing'];
type Outcomes = Pick<Timing, 'done' | 'failed' | 'retried'>;

function failuresOf({ failed, retried }: Outcomes): number {
  return failed + retried;
}

function totalOf(names: readonly NameTiming[]): Outcomes {
  const sum = (of: (timing: Timing) => number): number =>
    names.reduce((total, { timing }) => total + of(timing), 0);
  return {
    done: sum(({ done }) => done),
    failed: sum(({ failed }) => failed),
    retried: sum(({ retried }) => retried),
  };
}

/** An earlier share of at least this can be that of an earlier anomaly, with which recent failures must not be compared. */
const CLEAN = 0.03;
/** Recent failures are suspicious if there are more than this many times as many as the earlier share predicts. */
const MORE = 1.1;
/** With fewer earlier attempts, nothing is known about the usual share. */
const MIN_EARLIER = 20;

/** Returns by how much recent failures exceed what is usual; 0 or less if they are not suspicious. */
function unusualFailures(recent: Outcomes, day: Outcomes): number {
  const failures = failuresOf(recent);
  if (failures < MIN_FAILED) return 0;
  const { earlier, usual } = earlierOf(recent, day);
  const isKnown = earlier >= MIN_EARLIER && usual < CLEAN;
  return isKnown ? failures - MORE * usual * (recent.done + failures) : failures;
}

/** Returns the number of earlier attempts of the day, and the share of them that failed. */
function earlierOf(recent: Outcomes, day: Outcomes): { readonly earlier: number; readonly usual: number } {
  const failures = Math.max(0, failuresOf(day) - failuresOf(recent));
  const earlier = Math.max(0, day.done - recent.done) + failures;
  return { earlier, usual: failures / Math.max(1, earlier) };
}

/** Recent percentiles that are at least this many times those of the day make a suspect. */
const SUSPICIOUS = 2;
/** The same if those of the day may be those of an anomaly: compared with what half of the attempts, or more, are below. */
const FAR_ABOVE = 4;
/** Shorter durations are not suspicious, in milliseconds. */
const NOTICEABLE_MS = 500;

/**
 * Returns the names whose histories are worth reading, those with unusual failures first. The criteria are wider than those
 * of a finding.
 */
function suspectsAmong(recent: readonly NameTiming[], day: ReadonlyMap<string, Timing>): string[] {
  const known = recent.filter(({ name }) => name !== otherNames);
  const inOrder = (unusual: (recent: Timing, day: Timing) => number): string[] =>
    known
      .map(({ name, timing }) => ({ name, by: unusual(timing, day.get(name) ?? timing) }))
      .filter(({ by }) => by > 0)
      .toSorted((one, other) => other.by - one.by)
      .map(({ name }) => name);
  const [most, risen, largest] = [unusualFailures, riseOfFailures, unusualShare].map(inOrder);
  // In turn, so that a type that fails is found among many that always fail a little, even if these run more often.
  const failing = new Set(
    known.flatMap((_name, rank) => [risen, largest, most].flatMap((order) => order?.[rank] ?? [])),
  );
  const slow = inOrder(unusualSlowness);
  const half = MAX_SUSPECTS / 2;
  const names = new Set([...[...failing].slice(0, half), ...slow.slice(0, half), ...failing, ...slow]);
  return [...names].slice(0, Math.min(MAX_SUSPECTS, historySpan.names));
}

/** Returns by how many standard errors recent failures exceed the earlier share; 0 or less if they are not suspicious. */
function riseOfFailures(recent: Outcomes, day: Outcomes): number {
  if (unusualFailures(recent, day) <= 0) return 0;
  const failures = failuresOf(recent);
  const expected = earlierOf(recent, day).usual * (recent.done + failures);
  return (failures - expected) / Math.sqrt(1 + expected);
}

/** Returns the recent share of failures; 0 if they are not suspicious. */
function unusualShare(recent: Outcomes, day: Outcomes): number {
  const failures = failuresOf(recent);
  return unusualFailures(recent, day) <= 0 ? 0 : failures / (recent.done + failures);
}

/** Returns how many times longer than usual recent attempts may have run or waited; 0 if they are not suspicious. */
function unusualSlowness(recent: Timing, day: Timing): number {
  const ratios = (['running', 'waiting'] as const).flatMap((kind) =>
    [0.5, 0.95, 0.99].map((quantile) => {
      const nowMs = recent[kind].percentile(quantile) ?? 0;
      const dayMs = Math.max(1, day[kind].percentile(quantile) ?? 0);
      const leastMs = Math.max(1, day[kind].percentile(quantile / 2) ?? 0);
      if (nowMs < NOTICEABLE_MS) return 0;
      // The day includes the recent attempts, which decide its percentile if there are too many of them.
      const isKnown = recent[kind].total < (1 - quantile) * day[kind].total;
      return !isKnown || nowMs >= SUSPICIOUS * dayMs || nowMs >= FAR_ABOVE * leastMs ? nowMs / leastMs : 0;
    }),
  );
  return Math.max(...ratios);
}
